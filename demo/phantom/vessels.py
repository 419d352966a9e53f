"""The vascular tree of the lungs, which gives a grey area the texture of lung.

Points are scattered through the lung. Starting with the nearest to the hilum, each is joined to the existing
tree so that the path to the hilum stays short and forks are acute. Calibres follow Murray's law from the tips
inwards.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demo.phantom.catalogue import Side
from demo.phantom.frame import Points
from demo.phantom.habitus import Habitus, part_rng
from demo.phantom.heart import Heart
from demo.phantom.thorax import CAGE_POWER, Cage, Dome
from demo.phantom.tubes import Tubes, join_curves, sample_curve

VESSEL_CLASSES = (0.45, 0.8, 1.2)
TRUNK_CLASSES = (1.2, 2.0, 3.4, 5.5, 8.5)
_TIP_RADIUS = 0.50
_MURRAY_EXPONENT = 2.35


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A rooted tree: nodes (n, 3) in mm, the parent of each (n,), -1 for the root, the radius (n,) in mm."""

    nodes: Points
    parents: NDArray[np.int64]
    radii: NDArray[np.float64]


def hilum_point(habitus: Habitus, side: Side) -> Points:
    """The point where the vessels and bronchi enter one lung; the left hilum is higher."""
    right = side is Side.RIGHT
    return np.array([side.sign * (27 if right else 30), habitus.carina + (25 if right else 16), -6.0])


def sample_lung_points(
    cage: Cage, dome: Dome, heart: Heart, random: np.random.Generator, count: int, *, wall_limit: float = 0.94
) -> Points:
    """``count`` points in one lung, (count, 3): above the dome, outside the heart, denser at the bases."""
    habitus = cage.habitus
    accepted: list[Points] = []
    total = 0
    while total < count:
        n = 4 * count
        y = habitus.apex + 2 + (habitus.lung + 55) * random.beta(1.35, 1.0, n)
        x = random.uniform(0, 1, n) * habitus.half_width
        z = random.uniform(-100, 95, n) * habitus.depth
        half, back, front = cage.half_width(y), cage.back_z(y), cage.front_z(y)
        cage_distance = (x / half) ** CAGE_POWER + (
            np.abs(z - (back + front) / 2) / ((front - back) / 2)
        ) ** CAGE_POWER
        points = np.stack([dome.side.sign * x, y, z], axis=1)
        is_valid = (
            (cage_distance < wall_limit**CAGE_POWER) & (y < dome.height(points[:, 0], z) - 3) & (x > 14)
        )
        is_near_midline = np.hypot(x / 30, (z - 0) / 30) < 1
        is_valid &= ~((y < habitus.carina) & is_near_midline)
        for part in heart.parts:
            is_valid &= ~part.contains(points)
        accepted.append(points[is_valid])
        total += int(is_valid.sum())
    return np.concatenate(accepted)[:count]


def grow_tree(root: Points, targets: Points, *, path_weight: float = 0.62) -> Tree:
    """Join the targets to a tree; ``path_weight`` weights the path to the root against new branch length."""
    order = np.argsort(np.linalg.norm(targets - root, axis=1))
    n = len(targets) + 1
    nodes = np.empty((n, 3))
    nodes[0] = root
    path_length = np.zeros(n)
    parents = np.full(n, -1, dtype=np.int64)
    for index, target in enumerate(targets[order], start=1):
        distance = np.sqrt(((nodes[:index] - target) ** 2).sum(axis=1))
        best = int(np.argmin(distance + path_weight * path_length[:index]))
        nodes[index], parents[index], path_length[index] = target, best, path_length[best] + distance[best]
    load = np.ones(n)
    for index in range(n - 1, 0, -1):
        load[parents[index]] += load[index]
    return Tree(nodes=nodes, parents=parents, radii=_TIP_RADIUS * load ** (1 / _MURRAY_EXPONENT))


def draw_branches(tree: Tree, *, weight: float = 1.0, samples: int = 48) -> Tubes:
    """Every edge of the tree as a smooth curve that leaves its parent in the parent's direction."""
    child = np.arange(1, len(tree.nodes))
    parent = tree.parents[child]
    start, end = tree.nodes[parent], tree.nodes[child]
    # direction at a node: the direction of the branch that leads to it
    incoming = np.zeros_like(tree.nodes)
    incoming[1:] = tree.nodes[1:] - tree.nodes[tree.parents[1:]]
    incoming[0] = 0
    length = np.linalg.norm(end - start, axis=1, keepdims=True)
    unit = incoming / np.maximum(np.linalg.norm(incoming, axis=1, keepdims=True), 1e-6)
    start_tangent = 0.75 * unit[parent] * length
    end_tangent = 0.8 * (end - start)
    t = np.linspace(0.0, 1.0, samples)[None, :, None]
    h00, h10, h01, h11 = 2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t, -2 * t**3 + 3 * t**2, t**3 - t**2
    curve = (
        h00 * start[:, None] + h10 * start_tangent[:, None] + h01 * end[:, None] + h11 * end_tangent[:, None]
    )
    pieces = np.linalg.norm(np.diff(curve, axis=1), axis=2)
    lengths = np.concatenate(
        [pieces[:, :1] / 2, (pieces[:, 1:] + pieces[:, :-1]) / 2, pieces[:, -1:] / 2], axis=1
    )
    tip = tree.radii[child][:, None]
    base = np.minimum(tree.radii[parent][:, None], 1.35 * tip)
    radii = base + (tip - base) * t[..., 0]
    # branches overlap near the root, so they have less weight there
    root_distance = np.linalg.norm(curve - tree.nodes[0], axis=2)
    lengths = lengths * np.clip(root_distance / 16, 0.25, 1)
    return Tubes(points=curve.reshape(-1, 3), weights=weight * lengths.reshape(-1), radii=radii.reshape(-1))


def draw_vessels(habitus: Habitus, cage: Cage, dome: Dome, heart: Heart) -> Tubes:
    """Arteries from the hilum and veins from the left atrium of one lung."""
    random = part_rng(habitus.seed, 10 if dome.side is Side.RIGHT else 11)
    root = hilum_point(habitus, dome.side)
    atrium = root * np.array([0.75, 1.0, 1.0]) + np.array([0.0, 26.0, -4.0])
    arteries = grow_tree(root, sample_lung_points(cage, dome, heart, random, 560))
    veins = grow_tree(atrium, sample_lung_points(cage, dome, heart, random, 320), path_weight=0.7)
    parts = [
        draw_branches(arteries),
        draw_branches(veins, weight=0.85),
        _main_artery(dome.side, root),
    ]
    return Tubes(
        points=np.concatenate([p.points for p in parts]),
        weights=np.concatenate([p.weights for p in parts]),
        radii=np.concatenate([p.radii for p in parts]),
    )


def _main_artery(side: Side, root: Points) -> Tubes:
    """The pulmonary artery of one side, from the mediastinum down along the main bronchus."""
    if side is Side.RIGHT:
        knots = root + np.array([[14.0, -8, 8], [0, -2, 0], [-10, 16, -6], [-15, 40, -12], [-19, 66, -18]])
    else:
        knots = root + np.array([[-14.0, -4, 8], [2, -10, 0], [13, 2, -10], [17, 26, -16], [20, 54, -22]])
    return join_curves([sample_curve(knots, np.array([9.0, 8.5, 8.0, 6.0, 3.5]), step=0.6, weight=0.9)])


def split_by_radius(tubes: Tubes, limit: float) -> tuple[Tubes, Tubes]:
    """The tubes with radii up to ``limit`` mm, and the thicker ones."""
    thin = tubes.radii <= limit

    def select(mask: NDArray[np.bool_]) -> Tubes:
        return Tubes(points=tubes.points[mask], weights=tubes.weights[mask], radii=tubes.radii[mask])

    return select(thin), select(~thin)
