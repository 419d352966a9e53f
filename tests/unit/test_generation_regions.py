"""The 30 regions of GEMeX and their boxes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.boxes import Box
from domain.errors import InvalidValue
from generation.regions import ComposedBox, MissingPart, RegionSettings, map_region_boxes
from terminology.regions import (
    COMPOSED,
    DROPPED,
    KEPT,
    MERGED,
    REGIONS,
    SOURCE_REGIONS,
    find_regions_of,
    resolve_region,
)

BOXES = st.tuples(*[st.integers(0, 100)] * 2, *[st.integers(1, 100)] * 2).map(
    lambda values: Box(
        x_min=values[0], y_min=values[1], x_max=values[0] + values[2], y_max=values[1] + values[3]
    )
)
SOURCES = st.dictionaries(st.sampled_from(sorted(SOURCE_REGIONS)), BOXES)
FEW_EXAMPLES = settings(max_examples=25, deadline=None)
ALL_SOURCES = st.fixed_dictionaries(dict.fromkeys(sorted(SOURCE_REGIONS), BOXES))


def contains(outer, inner):
    return (
        outer.x_min <= inner.x_min
        and outer.y_min <= inner.y_min
        and outer.x_max >= inner.x_max
        and outer.y_max >= inner.y_max
    )


def test_twelve_are_kept_six_merged_from_thirteen_four_dropped_and_twelve_composed():
    assert (len(KEPT), len(MERGED), len(DROPPED), len(COMPOSED)) == (12, 6, 4, 12)
    assert sum(map(len, MERGED.values())) == 13
    assert len(SOURCE_REGIONS) == 12 + 13 + 4 == 29
    assert len(set(REGIONS)) == 12 + 6 + 12 == 30


@FEW_EXAMPLES
@given(ALL_SOURCES)
def test_all_thirty_regions_have_one_box_if_all_sources_have_one(sources):
    boxes = map_region_boxes(sources)
    assert set(boxes) == set(REGIONS)
    assert all(len(parts) == 1 for parts in boxes.values())


@FEW_EXAMPLES
@given(ALL_SOURCES)
def test_a_composed_box_touches_its_parts_on_every_edge_and_contains_them(sources):
    boxes = map_region_boxes(sources)
    for name, parts in COMPOSED.items():
        (composed,) = boxes[name]
        part_boxes = [boxes[part][0] for part in parts]
        assert all(contains(composed, part) for part in part_boxes)
        edges = zip(*(part.as_tuple() for part in part_boxes), strict=True)
        assert all(edge in values for edge, values in zip(composed.as_tuple(), edges, strict=True))


@FEW_EXAMPLES
@given(SOURCES)
def test_a_kept_region_has_the_box_of_its_source(sources):
    boxes = map_region_boxes(sources)
    assert {name: boxes.get(name) for name in KEPT} == {
        name: (sources[name],) if name in sources else None for name in KEPT
    }


@FEW_EXAMPLES
@given(SOURCES)
def test_dropped_regions_have_no_box_and_do_not_change_the_others(sources):
    not_dropped = {name: box for name, box in sources.items() if name not in DROPPED}
    assert map_region_boxes(sources) == map_region_boxes(not_dropped)


@FEW_EXAMPLES
@given(SOURCES)
def test_a_composed_region_with_a_missing_part_is_omitted_or_composed_of_the_rest(sources):
    with_omission = map_region_boxes(sources)
    with_rest = map_region_boxes(sources, settings=RegionSettings(missing=MissingPart.USE_REST))
    for name, parts in COMPOSED.items():
        assert (name in with_omission) == all(part in with_omission for part in parts)
        assert (name in with_rest) == any(part in with_rest for part in parts)


@FEW_EXAMPLES
@given(SOURCES)
def test_a_merged_region_grows_or_keeps_the_box_of_the_source_with_its_name(sources):
    grown = map_region_boxes(sources)
    kept = map_region_boxes(sources, settings=RegionSettings(merged_grow=False))
    for name, parts in MERGED.items():
        assert (name in grown) == (name in kept) == (name in sources)
        if name in sources:
            assert kept[name] == (sources[name],)
            assert all(contains(grown[name][0], sources[part]) for part in parts if part in sources)


@FEW_EXAMPLES
@given(ALL_SOURCES)
def test_the_setting_parts_keeps_the_boxes_of_both_sides(sources):
    boxes = map_region_boxes(sources, settings=RegionSettings(composed=ComposedBox.PARTS))
    assert boxes["bilateral lung"] == (sources["left lung"], sources["right lung"])
    assert len(boxes["bilateral mid-to-lower lung zone"]) == 4


def test_the_released_bilateral_lung_is_consistent_with_the_enclosing_box():
    """A released image of GEMeX: bilateral lung [43,35,212,156], right lung [43,38,117,147].

    The left edge is that of the right lung, which lies on the image's left. The other edges are at least as
    far out, so they can be those of the left lung.
    """
    right = Box(x_min=43, y_min=38, x_max=117, y_max=147)
    left = Box(x_min=125, y_min=35, x_max=212, y_max=156)
    assert map_region_boxes({"right lung": right, "left lung": left})["bilateral lung"] == (
        Box(x_min=43, y_min=35, x_max=212, y_max=156),
    )


def test_names_are_resolved_and_unknown_ones_refused():
    assert resolve_region(" Cardiac  Region ") == "cardiac silhouette"
    assert find_regions_of("right atrium") == ("cardiac silhouette",)
    assert find_regions_of("carina") == ()
    with pytest.raises(InvalidValue, match="'heart' is not one of the 30"):
        resolve_region("heart")
    with pytest.raises(InvalidValue, match="'neck' is not one of the 29"):
        map_region_boxes({"neck": Box(x_min=0, y_min=0, x_max=1, y_max=1)})
