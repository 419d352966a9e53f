// A browser in which the viewer can't start: forms fall back on the plain editor.

throw new Error("no canvas here");
