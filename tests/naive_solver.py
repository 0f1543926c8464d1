"""Slow, obvious twins of the solver's kernels: plain loops over a list of factors.

A graph becomes numbered variables, nodes first, then labels, each with unary costs, and factors,
each a scope and a table; messages become, for each factor, a list of arrays, one a slot.
"""

from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from slanted.solver.messages import Messages


def variables(graph):
    """Unary costs of every variable."""
    return [*graph.node_costs, *graph.label_costs]


def factors(graph):
    """Scope and table of every factor: edges, 3-way junctions, 4-way junctions."""
    count = len(graph.node_costs)
    found = [
        ((count + e, i, j), graph.edge_costs[e]) for e, (i, j) in enumerate(graph.edges.tolist())
    ]
    three = [(scope, graph.junction3_costs) for scope in graph.junctions3 + count]
    kinds = graph.junction4_costs[graph.junction4_kinds]
    four = list(zip(graph.junctions4 + count, kinds, strict=True))
    return found + [(tuple(scope.tolist()), table) for scope, table in three + four]


def as_lists(messages):
    """Messages by factor and slot."""
    edges = zip(messages.to_label, messages.to_first, messages.to_second, strict=True)
    junctions = [*messages.to_junctions3, *messages.to_junctions4]
    return [list(edge) for edge in edges] + [list(junction) for junction in junctions]


def random_messages(graph, seed, size=1.0):
    rng = np.random.default_rng(seed)
    zeros = vars(Messages.zeros(graph))
    return Messages(**{k: size * rng.standard_normal(v.shape) for k, v in zeros.items()})


def soft_minimum(values, tau):
    values = np.asarray(values, float).reshape(-1)
    least = values.min()
    return least if tau == 0 else least - tau * np.log(np.exp((least - values) / tau).sum())


def energy(graph, states):
    total = sum(unary[x] for unary, x in zip(variables(graph), states, strict=True))
    return total + sum(table[tuple(states[v] for v in scope)] for scope, table in factors(graph))


def reparametrised(scope, table, sent, skip=None):
    """A factor's table less the messages of its variables, all but one of them."""
    result = table.copy()
    for state in product(*(range(k) for k in table.shape)):
        for slot in range(len(scope)):
            if slot != skip:
                result[state] -= sent[slot][state[slot]]
    return result


def dual(graph, messages, epsilon, counting):
    """D_ε, term by term."""
    lists, unaries = as_lists(messages), [u.copy() for u in variables(graph)]
    total = 0.0
    for (scope, table), sent in zip(factors(graph), lists, strict=True):
        total += soft_minimum(reparametrised(scope, table, sent), epsilon * counting.factor)
        for slot, v in enumerate(scope):
            unaries[v] += sent[slot]
    for v, unary in enumerate(unaries):
        count = counting.node if v < len(graph.node_costs) else counting.label
        total += soft_minimum(unary, epsilon * count)
    return total


def exact_bound(graph, messages):
    """D_0 in fractions, which round nothing."""
    unaries = [[Fraction(float(cost)) for cost in unary] for unary in variables(graph)]
    total = Fraction(0)
    for (scope, table), sent in zip(factors(graph), as_lists(messages), strict=True):
        exact = [[Fraction(float(m)) for m in message] for message in sent]
        total += min(
            Fraction(float(cost)) - sum(exact[slot][x] for slot, x in enumerate(states))
            for states, cost in np.ndenumerate(table)
        )
        for v, message in zip(scope, exact, strict=True):
            unaries[v] = [a + b for a, b in zip(unaries[v], message, strict=True)]
    return total + sum(min(unary) for unary in unaries)


def belief_and_update(graph, messages, variable, epsilon, count, factor_count):
    """B_i, and for each factor of a variable (factor, slot, its new message)."""
    lists, belief, incoming = as_lists(messages), variables(graph)[variable].copy(), []
    for number, (scope, table) in enumerate(factors(graph)):
        if variable in scope:
            slot = scope.index(variable)
            values = np.moveaxis(reparametrised(scope, table, lists[number], slot), slot, 0)
            mu = np.array([soft_minimum(row, epsilon * factor_count) for row in values])
            incoming.append((number, slot, mu))
            belief += mu
    share = factor_count / (count + len(incoming) * factor_count) if incoming else 0.0
    sent = [(number, slot, mu - share * belief) for number, slot, mu in incoming]
    return belief, [(number, slot, message - message.min()) for number, slot, message in sent]


def smoothed_primal(graph, messages, epsilon, counting):
    """The entropy-smoothed energy of the beliefs, and how far they are from consistent."""
    beliefs, total, worst = [], 0.0, 0.0
    degree = np.zeros(len(variables(graph)))
    for scope, _ in factors(graph):
        degree[list(scope)] += 1
    for v, unary in enumerate(variables(graph)):
        count = counting.node if v < len(graph.node_costs) else counting.label
        belief, _ = belief_and_update(graph, messages, v, epsilon, count, counting.factor)
        temperature = epsilon * (count + degree[v] * counting.factor)
        beliefs.append(
            _gibbs(belief, temperature) if temperature else np.eye(len(unary))[belief.argmin()]
        )
        total += beliefs[v] @ unary - epsilon * count * _entropy(beliefs[v])
    for (scope, table), sent in zip(factors(graph), as_lists(messages), strict=True):
        belief = _gibbs(reparametrised(scope, table, sent), epsilon * counting.factor)
        total += (belief * table).sum() - epsilon * counting.factor * _entropy(belief)
        for slot, v in enumerate(scope):
            others = tuple(k for k in range(len(scope)) if k != slot)
            worst = max(worst, np.abs(belief.sum(axis=others) - beliefs[v]).max())
    return total, worst


def _gibbs(costs, temperature):
    weights = np.exp((costs.min() - costs) / temperature)
    return weights / weights.sum()


def _entropy(belief):
    positive = belief[belief > 0]
    return -(positive * np.log(positive)).sum()


# --- oracles ----------------------------------------------------------------------------------


def brute_force(graph):
    """The least energy of all labellings; labels are enumerated for each choice of states."""
    count, states = graph.node_costs.shape
    labels = np.array(list(product(range(4), repeat=len(graph.edges))), np.int32)
    labels = labels.reshape(4 ** len(graph.edges), len(graph.edges))
    fixed = sum(
        (graph.label_costs[e, labels[:, e]] for e in range(len(graph.edges))), np.zeros(len(labels))
    )
    for a, b, c in graph.junctions3:
        fixed = fixed + graph.junction3_costs[labels[:, a], labels[:, b], labels[:, c]]
    for scope, kind in zip(graph.junctions4, graph.junction4_kinds, strict=True):
        fixed = fixed + graph.junction4_costs[(kind, *(labels[:, e] for e in scope))]
    least = np.inf
    for chosen in product(range(states), repeat=count):
        total = fixed + sum(graph.node_costs[i, k] for i, k in enumerate(chosen))
        for e, (i, j) in enumerate(graph.edges):
            total = total + graph.edge_costs[e, labels[:, e], chosen[i], chosen[j]]
        least = min(least, total.min())
    return least


def relaxation(graph, integral=False):
    """The least energy over locally consistent beliefs (LP), or with whole ones (MILP)."""
    unaries, tables = variables(graph), factors(graph)
    sizes = [len(u) for u in unaries] + [table.size for _, table in tables]
    start = np.concatenate([[0], np.cumsum(sizes)])
    rows, columns, values, right = [], [], [], []

    def add(row, entries):
        for column, value in entries:
            rows.append(row)
            columns.append(column)
            values.append(value)

    for v in range(len(unaries)):
        add(len(right), [(c, 1.0) for c in range(start[v], start[v + 1])])
        right.append(1.0)
    for number, (scope, table) in enumerate(tables):
        index = start[len(unaries) + number] + np.arange(table.size).reshape(table.shape)
        for slot, v in enumerate(scope):
            for x in range(table.shape[slot]):
                entries = [(c, 1.0) for c in np.take(index, x, axis=slot).reshape(-1)]
                add(len(right), [*entries, (start[v] + x, -1.0)])
                right.append(0.0)
    costs = np.concatenate([*unaries, *(table.reshape(-1) for _, table in tables)])
    matrix = csr_array((values, (rows, columns)), shape=(len(right), len(costs)))
    if integral:
        whole = np.zeros(len(costs))
        whole[: start[len(unaries)]] = 1
        found = milp(
            costs, integrality=whole, bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix, right, right), options={"mip_rel_gap": 0.0},
        )  # fmt: skip
    else:
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        found = linprog(
            costs, A_eq=matrix, b_eq=right, bounds=(0, 1), method="highs", options=tight
        )
    assert found.success, found.message
    return found.fun


def best_star(graph, node, states, labels):
    """The least energy over a node's state and the labels of its edges, by trying all."""
    edges = [e for e, pair in enumerate(graph.edges.tolist()) if node in pair]
    least = np.inf
    for state in range(graph.node_costs.shape[1]):
        for around in product(range(4), repeat=len(edges)):
            tried_states, tried_labels = states.copy(), labels.copy()
            tried_states[node] = state
            tried_labels[edges] = around
            least = min(least, graph.energy(tried_states, tried_labels))
    return least
