"""The radiographs on screen with boxes that can be changed, and the way between their pixels and ours."""
