# SPDX-License-Identifier: Apache-2.0
"""Cuts the screenshots of packaging/pictures to what the guide shows, and joins frames to a film.

pictures.py SHOTS OUTPUT
"""

import sys
from pathlib import Path

from PIL import Image

# Of a window of 1200 x 750: left, top, right, bottom.
WINDOW = (0, 0, 1200, 750)
CENTRE = (202, 75, 1200, 562)  # views and the right side, without navigator, header and timeline
TALL = (202, 75, 1200, 614)  # the same, once a change has made the timeline lower

PICTURES = {
    "draft": ("mesh-grow/1-grow-draft.png", CENTRE),
    "moving": ("mesh-grow/1-grow-moving.png", TALL),
    "tensors": ("tensors-shrink/1-shrink-draft.png", TALL),
    "links": ("links-grow/1-grow-draft.png", (202, 75, 1200, 584)),
    "files": ("files.png", CENTRE),
    "lesson": ("lesson.png", CENTRE),
    "simulator": ("simulator.png", WINDOW),
}
COLOURS = 200  # a third of the bytes of a PNG with all colours, and nothing to see of it
FILM_SIZE = (960, 600)
FRAME_MS = 125  # as packaging/pictures takes them


def picture(shot: Path, box: tuple[int, int, int, int], target: Path) -> None:
    image = Image.open(shot).convert("RGB").crop(box)
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


def film(folder: Path, target: Path) -> None:
    files = sorted(folder.glob("*.png"))
    if not files:
        sys.exit(f"pictures: no frames in {folder}")
    frames = [Image.open(file).convert("RGB").resize(FILM_SIZE, Image.Resampling.LANCZOS) for file in files]
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=FRAME_MS, loop=0, quality=60, method=4)


def main(shots: Path, output: Path) -> None:
    for name, (shot, box) in PICTURES.items():
        picture(shots / shot, box, output / f"{name}.png")
    film(shots / "mesh-grow" / "frames", output / "grow.webp")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: pictures.py SHOTS OUTPUT")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
