"""Images of users: one image in many forms is one image, and anything else gets a sentence."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from slanted.errors import InputError
from slanted.images.given import image_from_user

SIDES = st.integers(8, 40)
FORMS = {
    "as it is": lambda v: v,
    "floats to 1": lambda v: v / 255,
    "floats to 255": lambda v: v.astype(np.float32),
    "float16": lambda v: (v / 255).astype(np.float16),
    "Fortran's order": np.asfortranarray,
    "upside down twice": lambda v: v[::-1].copy()[::-1],
    "a batch": lambda v: v[None],
}
AXES = {
    "last": lambda v: v,
    "first": lambda v: np.moveaxis(v, -1, 0),
    "first, whole": lambda v: np.ascontiguousarray(np.moveaxis(v, -1, 0)),
}


@given(
    st.data(),
    st.sampled_from(list(FORMS)),
    st.sampled_from(list(AXES)),
    st.sampled_from([1, 3, 4]),
    st.sampled_from(["rgb", "bgr"]),
)
def test_one_image_in_any_form_is_one_image(data, form, axes, channels, order):
    height, width, seed = data.draw(SIDES), data.draw(SIDES), data.draw(st.integers(0, 99))
    view = np.random.default_rng(seed).integers(0, 256, (height, width, channels), np.uint8)
    view[0, 0] = 255  # so that floats to 255 cannot be taken for floats to 1
    before = view.copy()
    found = image_from_user("left", FORMS[form](AXES[axes](view)), order).pixels
    expected = view[..., 0] if channels == 1 else view[..., :3]
    if channels > 1 and order == "bgr":
        expected = expected[..., ::-1]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.uint8
    assert found.flags.c_contiguous
    assert found.flags.writeable
    np.testing.assert_array_equal(view, before)


@given(
    arrays.arrays(
        st.one_of(arrays.scalar_dtypes(), st.just(np.dtype(object))),
        arrays.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=9),
    )
)
def test_any_array_is_an_image_or_gets_a_sentence(values):
    try:
        found = image_from_user("left", values).pixels
    except InputError as error:
        assert str(error).startswith("left: expected ")
        assert str(error).isprintable()
    else:
        assert found.ndim == 2 or found.shape[2] == 3
        assert found.dtype in (np.uint8, np.uint16)


def test_one_bit_is_the_same_from_a_file_and_from_pillow(tmp_path):
    view = np.random.default_rng(3).integers(0, 256, (20, 30), np.uint8)
    image = Image.fromarray(view).convert("1")
    image.save(tmp_path / "bits.png")
    found = image_from_user("left", image).pixels
    assert found.dtype == np.uint8
    assert set(np.unique(found)) == {0, 255}
    np.testing.assert_array_equal(found, image_from_user("left", tmp_path / "bits.png").pixels)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("white", [1, 255])
def test_every_level_of_8_bits_survives_as_a_float(dtype, white):
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    floats = (levels / (255 / white)).astype(dtype)
    np.testing.assert_array_equal(image_from_user("left", floats).pixels, levels)


@pytest.mark.parametrize("shape", [(1000, 1000, 3), (3, 1000, 1000), (1, 3, 1000, 1000)])
def test_floats_take_little_memory_beside_their_image(shape):
    floats = np.linspace(0, 1, 3_000_000, dtype=np.float32).reshape(shape)
    tracemalloc.start()
    try:
        image_from_user("left", floats)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * floats.size  # bytes; the image has one a value, and so has its copy in order
