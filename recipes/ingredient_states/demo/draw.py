"""Draws the picture of the demo's braided buns, eight of them on a tray: python -m recipes.ingredient_states.demo.draw

It is drawn and no photograph, so that nobody's picture is needed; the file beside it is what this makes.
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

WIDTH, HEIGHT = 480, 320
SCALE = 3  # drawn larger and made smaller, for smooth edges
TRAY, RIM, PAPER = "#6b7278", "#868d94", "#efe6d4"
CRUST, SHADE, SHINE, BRAID, PEARL = "#c98a3c", "#9a6224", "#e3b368", "#dda04f", "#fffdf8"


def drawn() -> Image.Image:
    image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), "#d9dfe3")
    pen = ImageDraw.Draw(image)

    def oval(x: float, y: float, wide: float, high: float, colour: str) -> None:
        pen.ellipse([(x - wide) * SCALE, (y - high) * SCALE, (x + wide) * SCALE, (y + high) * SCALE], fill=colour)

    def panel(margin: float, colour: str, round_: float) -> None:
        box = [margin * SCALE, margin * SCALE, (WIDTH - margin) * SCALE, (HEIGHT - margin) * SCALE]
        pen.rounded_rectangle(box, radius=round_ * SCALE, fill=colour)

    panel(14, RIM, 24)
    panel(22, TRAY, 18)
    panel(34, PAPER, 8)
    for number in range(8):
        x, y = 96 + number % 4 * 96, 104 + number // 4 * 112
        oval(x + 2, y + 7, 43, 40, "#cdbf9f")
        oval(x, y, 43, 40, SHADE)
        oval(x, y - 3, 41, 36, CRUST)
        oval(x - 12, y - 16, 16, 9, SHINE)
        for place in range(6):  # the strands laid over it
            side = 1 if place % 2 else -1
            oval(x + side * 5, y - 25 + place * 10, 12, 8, SHADE)
            oval(x + side * 5, y - 26 + place * 10, 11, 6.5, BRAID)
        for place in range(7):  # pearl sugar
            oval(x + (place * 23 + number * 7) % 54 - 27, y + (place * 17 + number * 11) % 46 - 24, 2.4, 2, PEARL)
    return image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS).quantize(64)


if __name__ == "__main__":
    drawn().save(Path(__file__).with_name("braided-buns.png"), optimize=True)
