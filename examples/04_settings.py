"""Settings: a preset, changes by name, a file, and the record of them in a result."""

import slanted
from slanted.synthetic import make_scene

scene = make_scene(320, 240, seed=4)

settings = slanted.Settings.preset("default").updated(
    {"segmentation.count": 200, "matching.max_disparity": 64, "model.lambda_hinge": 2}
)
settings.save("mine.toml")  # edit it, and give it to any command with --settings mine.toml
settings = slanted.Settings.load("mine.toml")

result = slanted.estimate(scene.left, scene.right, settings)
same = slanted.estimate(scene.left, scene.right, "mine.toml")
brief = slanted.estimate(
    scene.left, scene.right, {"segmentation.count": 200}, preset="fast", max_disparity=64
)
print(f"asked for {settings.segmentation.count} segments, refined to {result.regions.count}")

try:
    settings.updated({"segmentation.cuont": 10})
except slanted.SlantedError as error:
    print(f"a misspelt name is an error: {error}")
