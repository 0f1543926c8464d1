"""On data drawn from the model, learning finds the order of the weights that made them."""

import dataclasses

import numpy as np

from learning.problems import small_example
from naive_learning import weighted_graph
from slanted.learning.images import Images
from slanted.learning.objective import ImageObjective
from slanted.learning.optimise import minimise_lbfgs
from slanted.learning.owner import add_example
from slanted.learning.training import Training
from slanted.runtime.workers import Sequential
from slanted.solver import SolverOptions, solve

KNOWN = np.array([0.6, 0.1, 1.5, 4.0, 0.0, 0.3, 0.0, 0.0])
"""Spread so widely that their order can be told from few small images."""
LEARNED = np.array([True, True, True, True, False, True, False, False])


def drawn(seed, sweeps=60):
    """A random example whose ground truth is a Gibbs sample of the model."""
    rng = np.random.default_rng(seed)
    example = small_example(seed, particles=4, losses=0.0)
    example = dataclasses.replace(example, jct=2 * example.jct)
    graph = weighted_graph(example, KNOWN)
    count, states = example.seg.shape
    planes, labels = rng.integers(0, states, count), rng.integers(0, 4, len(example.edges))
    for _ in range(sweeps):
        for variables, size in ((planes, states), (labels, 4)):
            for k in range(len(variables)):
                energies = []
                for x in range(size):
                    variables[k] = x
                    energies.append(graph.energy(planes, labels))
                chance = np.exp(min(energies) - np.array(energies))
                variables[k] = rng.choice(size, p=chance / chance.sum())
    return truth_first(example, planes, labels)


def truth_first(example, planes, labels):
    """Number particles anew, so that the given ones are the first."""
    count, states = example.seg.shape
    order = np.array([[p, *(k for k in range(states) if k != p)] for p in planes])
    row = np.arange(count)[:, None]
    i, j = example.edges.T
    edge = np.arange(len(i))[:, None]
    pairs = example.bdy2.reshape(len(i), 4, states, states)
    turned = np.stack([t[:, a][:, :, b] for t, a, b in zip(pairs, order[i], order[j], strict=True)])
    # Hamming loss: every particle but the right one.
    losses = np.full((count, states), 1.0)
    losses[:, 0] = 0
    return dataclasses.replace(
        example,
        seg=example.seg[row, order],
        vis=example.vis[row, order],
        pho=example.pho[row, order],
        bdy1=np.stack([example.bdy1[edge, 0, order[i]], example.bdy1[edge, 1, order[j]]], axis=1),
        bdy2=np.ascontiguousarray(turned.reshape(example.bdy2.shape)),
        losses=losses,
        label_losses=0 * example.label_losses,
        labels=labels.astype(np.int32),
    )


def test_order_of_the_weights_is_recovered_and_held_out_loss_falls():
    examples = [drawn(seed) for seed in range(24)]
    images = Images(Sequential())
    for number, example in enumerate(examples[:18]):
        add_example(
            images.add(number), number, dataclasses.replace(example, losses=0 * example.losses)
        )
    units = np.array([0.02, 0.02, 1, 1, 1, 1, 0.02, 1])
    training = Training(images, None, units=units, regulariser=0.02, tolerance=1e-9, most=60)
    found = minimise_lbfgs(
        lambda w: training.evaluate(w, 1.0, 60),
        np.where(LEARNED, 1.0, 0),
        LEARNED,
        limit=60,
        tolerance=1e-8,
    )
    weights = found.weights * units
    assert (weights[~LEARNED] == 0).all()
    order = np.argsort(KNOWN[LEARNED])
    assert list(np.argsort(weights[LEARNED])) == list(order)

    def held_out(w):
        """Mean surrogate loss, and the Hamming loss of the most probable particles."""
        values, wrong = [], []
        for example in examples[18:]:
            bare = dataclasses.replace(example, losses=0 * example.losses)
            objective = ImageObjective(bare)
            values.append(objective.evaluate(w, 1.0, sweeps=60).value)
            best = solve(weighted_graph(bare, w), SolverOptions(max_sweeps=50))
            wrong.append((best.states != 0).mean())
        return np.mean(values), np.mean(wrong)

    ours, unit = held_out(weights), held_out(LEARNED.astype(float))
    assert ours[0] < unit[0]
    assert ours[1] <= unit[1]
