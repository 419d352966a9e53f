"""The lead side marker on the radiograph."""

import numpy as np
from PIL import Image, ImageDraw

from demo.phantom.frame import Field, Frame, View


def render_marker(frame: Frame, random: np.random.Generator) -> Field:
    """Line integral of a lead letter L, at the left shoulder (frontal) or in front of the neck (lateral)."""
    width, height, thickness = 9.0, 14.0, 3.0
    x = frame.width - 24 - random.uniform(0, 8) if frame.view is View.PA else 16 + random.uniform(0, 10)
    y = 12 + random.uniform(0, 10)
    scale = 4 / frame.spacing
    letter = Image.new("L", (frame.columns, frame.rows))
    tile = Image.new("L", (int(24 * scale), int(24 * scale)))
    draw = ImageDraw.Draw(tile)
    corner = (4 * scale, 4 * scale)
    draw.rounded_rectangle(
        (corner[0], corner[1], corner[0] + thickness * scale, corner[1] + height * scale),
        radius=0.6 * scale,
        fill=255,
    )
    draw.rounded_rectangle(
        (
            corner[0],
            corner[1] + (height - thickness) * scale,
            corner[0] + width * scale,
            corner[1] + height * scale,
        ),
        radius=0.6 * scale,
        fill=255,
    )
    tile = tile.rotate(random.uniform(-4, 4), resample=Image.Resampling.BICUBIC)
    small = tile.resize((int(24 / frame.spacing), int(24 / frame.spacing)), Image.Resampling.BOX)
    letter.paste(small, (int(x / frame.spacing), int(y / frame.spacing)))
    return np.asarray(letter, dtype=np.float32) * np.float32(5.6 / 255)
