import dataclasses
import json

import numpy as np
import pytest
import torch
from torch import nn

import reference
from asserts import assert_close, assert_expectation, assert_same_bits
from proponent import Scores
from proponent.attribution import TracIn
from proponent.attribution._crossed import crossed_variance, squared_mean_variance
from proponent.objectives import objective
from proponent.randomness import keyed_normal
from proponent.training import Trajectory
from toys import TOYS

TOY = TOYS["linear-gaussian-vae"]
SAMPLES = keyed_normal((23, 5), "tracin", "samples", dtype=torch.float64)
QUERIES = keyed_normal((6, 5), "tracin", "queries", dtype=torch.float64)


def trajectory(seeds=(1, 2), **options):
    options = {"steps": [10, 30], "learning_rates": [0.5, 0.25], "sample_count": 40} | options
    return Trajectory.from_state_dicts([TOY.model(seed).state_dict() for seed in seeds], **options)


def tracin(path=None, **options):
    options = {"draws": 4, "precision": "float64", "device": "cpu"} | options
    return TracIn(TOY.model(), TOY.objective, trajectory() if path is None else path, **options)


def influence(method, **options):
    return method.influence(SAMPLES, QUERIES, progress=False, **options)


# --- Noise ------------------------------------------------------------------------------------------


def test_draws_belong_to_seed_trajectory_step_and_role():
    method = tracin([trajectory(), trajectory((3, 4))])
    keys = [(c, role, t) for c in (0, 1) for role in ("train", "query") for t in (0, 1)]
    draws = [method.noise(*key) for key in keys]
    assert {tuple(each.shape) for each in draws} == {(4, 2)}
    assert len({tuple(each.flatten().tolist()) for each in draws}) == 8
    again = tracin([trajectory(), trajectory((3, 4))])
    assert all(torch.equal(again.noise(*key), each) for key, each in zip(keys, draws, strict=True))
    assert torch.equal(draws[0], keyed_normal((4, 2), 0, 0, 10, "train", dtype=torch.float64))
    assert not torch.equal(tracin(seed=1).noise(), draws[0])
    # A choice of checkpoints leaves each of them its draws.
    assert torch.equal(tracin(checkpoints=[1]).noise(1), tracin().noise(1))
    assert torch.equal(tracin(trajectory().select([1])).noise(0), tracin().noise(1))


def test_one_seed_gives_the_same_draws_in_every_precision():
    assert torch.equal(tracin(precision="float32").noise(), tracin().noise().float())


def test_an_objective_without_noise_has_none():
    toy = TOYS["linear"]
    method = TracIn(toy.model(), toy.objective, [toy.model().state_dict()], weights="unit", draws=3)
    assert method.noise() is None
    scores = method.self_influence(toy.samples)
    assert scores.facts["draws"] is None
    assert_same_bits(scores.values, method.self_influence(toy.samples, biased=True).values)


def test_noise_that_is_not_there():
    with pytest.raises(ValueError, match=r'`role` must be "train" or "query", got \'test\''):
        tracin().noise(role="test")
    with pytest.raises(IndexError, match="`trajectory` must be a position among the 1, got 1"):
        tracin().noise(trajectory=1)
    with pytest.raises(IndexError, match="must be positions among the 2 of the trajectory, got 2"):
        tracin().noise(2)


# --- What is summed ---------------------------------------------------------------------------------


def test_several_trajectories_are_averaged():
    paths = [trajectory(), trajectory((3, 4))]
    both = influence(tracin(paths)).values
    total = 0
    for t, path in enumerate(paths):
        states = [checkpoint.state() for checkpoint in path]
        noises = [tuple(tracin(paths).noise(c, role, t) for role in ("train", "query")) for c in (0, 1)]
        total = total + reference.influence(
            TOY.model(), TOY.objective, states, path.weights("physical"), SAMPLES, QUERIES, noises
        )
    assert_close(both, total / 2)


def test_a_choice_of_checkpoints_adds_up():
    parts = [influence(tracin(checkpoints=[c])).values for c in (0, 1)]
    assert_close(parts[0] + parts[1], influence(tracin()).values)
    assert_close(influence(tracin(checkpoints=[-1, 1])).values, parts[1])


def test_unit_weights_say_so():
    unit = influence(tracin(weights="unit"))
    assert unit.unit == "squared gradient norm, unit weights (Definition 2)"
    parts = [influence(tracin(checkpoints=[c])).values / w for c, w in ((0, 0.125), (1, 0.125))]
    assert_close(unit.values, parts[0] + parts[1])
    states = [checkpoint.state() for checkpoint in trajectory(steps=[0, 1], learning_rates=None)]
    assert influence(tracin(states, weights="unit")).unit == unit.unit
    assert influence(tracin()).unit == TOY.objective.unit


def moments():
    return [{k: torch.rand_like(v) + 0.5 for k, v in TOY.model().state_dict().items()} for _ in range(2)]


def test_the_metric_is_the_optimisers():
    second = moments()
    adam = trajectory(second_moments=second, optimizer="adam")
    trained = influence(tracin(adam))
    assert_same_bits(trained.values, influence(tracin(adam, metric="adam")).values)
    plain = influence(tracin(adam, metric="identity"))
    assert abs(trained.values - plain.values).max() > 1e-3
    assert_same_bits(plain.values, influence(tracin()).values)
    assert_same_bits(influence(tracin(trajectory(optimizer="sgd"))).values, plain.values)
    assert influence(tracin()).facts["optimizer"] == [{"name": "unknown"}]
    assert {stage["metric"] for stage in trained.facts["stages"]} == {"adam"}
    unit = influence(tracin(adam, weights="unit"))
    assert unit.unit == "squared gradient norm in Adam's metric, unit weights (Definition 2)"


def test_a_restriction_to_layers():
    parts = [influence(tracin(layers=[name])).values for name in ("encoder", "decoder")]
    assert_close(parts[0] + parts[1], influence(tracin()).values)


def test_another_objective_than_the_one_trained_on():
    path = dataclasses.replace(trajectory(), training={"objective": {"objective": "Elbo", "beta": 4.0}})
    other = objective(lambda model, x, noise: model.encode(x)[0].square().sum(1))
    scores = TracIn(TOY.model(), other, path, precision="float64").influence(SAMPLES, QUERIES)
    assert scores.facts["trained_objective"] == [{"objective": "Elbo", "beta": 4.0}]
    assert scores.facts["objective"]["objective"].endswith("<lambda>")


# --- Results ----------------------------------------------------------------------------------------


def test_scores_know_where_they_come_from(tmp_path):
    ids, query_ids = [f"s{i}" for i in range(23)], [f"q{i}" for i in range(6)]
    scores = influence(tracin(), ids=ids, query_ids=query_ids)
    assert scores.ids.tolist() == ids
    assert scores.query_ids.tolist() == query_ids
    assert scores.method == "TracIn"
    facts = json.loads(json.dumps(scores.facts))
    assert facts["draws"] == 4
    assert facts["seed"] == 0
    assert facts["precision"] == "float64"
    assert facts["trajectories"] == [trajectory().fingerprint()]
    assert facts["trained_objective"] == [None]
    assert facts["coverage"]["share"] == 1
    assert facts["check"]["relative_error"] < 1e-10
    assert Scores.load(scores.save(tmp_path / "scores.npy")).facts == facts
    own = tracin().self_influence(SAMPLES, ids=ids, biased=True)
    assert own.facts["biased"] is True
    assert own.ids.tolist() == ids


def test_samples_take_the_dtype_of_the_precision():
    single = influence(tracin(precision="float32"))
    assert single.values.dtype == np.float32
    assert_close(single.values, influence(tracin()).values, 1e-5)


def test_the_model_is_left_alone():
    model = TOY.model()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    TracIn(model, TOY.objective, trajectory()).self_influence(SAMPLES)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(p.dtype == torch.float64 and p.requires_grad for p in model.parameters())


@pytest.mark.parametrize("k", [1, 4, 23])
@pytest.mark.parametrize("shard_size", [1, 7, None])
def test_the_top_is_that_of_all_scores(k, shard_size, tmp_path):
    ids = [f"s{i}" for i in range(23)]
    scores = influence(tracin(), ids=ids)
    options = {"top": k, "shard_size": shard_size, "directory": tmp_path / "job", "ids": ids}
    for _ in range(2):  # the second time from the folder
        top = influence(tracin(), **options)
        for name in ("proponents", "opponents"):
            whole, streamed = getattr(scores, name)(k), getattr(top, name)(k)
            assert streamed.ids.tolist() == whole.ids.tolist()
            assert_close(streamed.values, whole.values)
    assert top.count == 23
    assert top.facts == scores.facts


# --- Jobs -------------------------------------------------------------------------------------------


def counting(limit=None):
    """A method that counts its objective's calls, and may be stopped at one of them, as Control-C does."""
    calls = []

    def loss(model, batch, noise):
        calls.append(None)
        if len(calls) == limit:
            raise KeyboardInterrupt
        return TOY.objective(model, batch, noise)

    loss = objective(loss, (2,), True, name="counting")
    method = TracIn(TOY.model(), loss, trajectory(), draws=4, precision="float64", batch_size=64)
    return method, calls


@pytest.mark.parametrize("top", [None, 3])
def test_an_interrupted_job_goes_on_to_the_same_bits(top, tmp_path):
    options = {"shard_size": 5, "top": top}
    method, calls = counting()
    expected = influence(method, **options)
    with pytest.raises(KeyboardInterrupt):
        influence(counting(len(calls) - 3)[0], directory=tmp_path, **options)
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "tasks").iterdir()}
    assert 0 < len(finished) < (10 if top is None else 5)
    resumed = influence(counting()[0], directory=tmp_path, **options)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    if top is None:
        assert_same_bits(resumed.values, expected.values)
    else:
        assert_same_bits(resumed.lowest.values, expected.lowest.values)


def test_a_resumed_job_keeps_its_batch(tmp_path):
    path = tmp_path / "job.json"
    influence(tracin(memory_budget="8MiB"), directory=tmp_path)
    settings = json.loads(path.read_text())["settings"]
    record = json.loads(path.read_text())
    record["settings"]["settled"]["batch"] = 3
    path.write_text(json.dumps(record))
    for task in (tmp_path / "tasks").iterdir():
        task.unlink()
    influence(tracin(memory_budget="8MiB"), directory=tmp_path)
    assert json.loads(path.read_text())["settings"]["settled"]["batch"] == 3
    for task in (tmp_path / "tasks").iterdir():
        task.unlink()
    influence(tracin(memory_budget="9MiB"), directory=tmp_path)
    assert json.loads(path.read_text())["settings"]["settled"] == settings["settled"]


def test_a_finished_job_is_read(tmp_path):
    options = {"directory": tmp_path, "standard_errors": True}
    (method, first), (again, second) = counting(), counting()
    expected, read = (each.self_influence(SAMPLES, **options) for each in (method, again))
    assert_same_bits(read.values, expected.values)
    assert_same_bits(read.standard_errors, expected.standard_errors)
    assert len(first) - len(second) >= 2 * 4  # checkpoints and groups


def test_parts_make_the_whole(tmp_path):
    options = {"shard_size": 3}
    expected = influence(tracin(), **options)
    parts = [influence(tracin(), part=(k, 4), directory=tmp_path, **options) for k in (2, 0, 3, 1)]
    assert_same_bits(np.concatenate([parts[k].values for k in (1, 3, 0, 2)]), expected.values)
    assert np.concatenate([parts[k].ids for k in (1, 3, 0, 2)]).tolist() == list(range(23))
    assert_same_bits(influence(tracin(), directory=tmp_path, **options).values, expected.values)


def test_a_damaged_task_is_computed_again(tmp_path):
    expected = tracin().self_influence(SAMPLES, directory=tmp_path)
    task = next((tmp_path / "tasks").iterdir())
    task.write_bytes(task.read_bytes()[:-5])
    with pytest.warns(UserWarning, match="is damaged"):
        again = tracin().self_influence(SAMPLES, directory=tmp_path)
    assert_same_bits(again.values, expected.values)


CHANGES = {
    "draws": (lambda d: influence(tracin(draws=6), directory=d), "draws: 4 there, 6 now"),
    "seed": (lambda d: influence(tracin(seed=1), directory=d), "seed: 0 there, 1 now"),
    "checkpoints": (lambda d: influence(tracin(checkpoints=[0]), directory=d), "stages"),
    "precision": (lambda d: influence(tracin(precision="float32"), directory=d), "precision"),
    "samples": (lambda d: tracin().influence(SAMPLES + 1, QUERIES, directory=d), "; samples|with samples"),
    "queries": (lambda d: tracin().influence(SAMPLES, QUERIES + 1, directory=d), "queries"),
    "errors": (lambda d: influence(tracin(), standard_errors=True, directory=d), "standard_errors"),
    "top": (lambda d: influence(tracin(), top=2, directory=d), "top: null there, 2 now"),
    "trajectory": (lambda d: influence(tracin(trajectory((1, 3))), directory=d), "trajectories"),
    "method": (lambda d: tracin().self_influence(SAMPLES, directory=d), "scores: .*self-influence"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_job_in_the_same_folder_is_refused(change, tmp_path):
    influence(tracin(), directory=tmp_path)
    ask, difference = CHANGES[change]
    with pytest.raises(ValueError, match=rf"`directory` must be empty or hold the same job.*({difference})"):
        ask(tmp_path)


@pytest.mark.parametrize("queries_share", [False, True])
def test_a_small_budget_gives_the_same_scores(queries_share):
    expected = influence(tracin())
    least = 40_000 if queries_share else 100_000
    assert_close(influence(tracin(memory_budget=least)).values, expected.values)
    assert_close(
        tracin(memory_budget=least).self_influence(SAMPLES).values, tracin().self_influence(SAMPLES).values
    )


# --- Standard errors and the number of draws --------------------------------------------------------


def gradients_by_draw(model, batch, draws):
    """The gradients ``[draws, n, p]`` of each single draw, in closed form."""
    return torch.func.vmap(lambda draw: reference.flat(TOY.gradients(model, batch, draw[None])))(draws)


def test_standard_errors_are_the_spread_over_seeds():
    model, (x, z) = TOY.model(), (SAMPLES[:4], QUERIES[:3])
    draws = keyed_normal((2, 400 * 8, 2), "spread", dtype=torch.float64)
    g_x = gradients_by_draw(model, x, draws[0]).unflatten(0, (400, 8))
    g_z = gradients_by_draw(model, z, draws[1]).unflatten(0, (400, 8))
    S = torch.einsum("sanp,sbqp->absnq", g_x, g_z)
    ratio = crossed_variance(S).mean(0) / S.mean((0, 1)).var(0)
    assert ((ratio.sqrt() - 1).abs() < 0.2).all(), ratio.sqrt()
    S = torch.einsum("sanp,sbnp->absn", g_x, g_x)
    ratio = squared_mean_variance(S).mean(0) / S.mean((0, 1)).var(0)
    assert ((ratio.sqrt() - 1).abs() < 0.2).all(), ratio.sqrt()


def test_standard_errors_come_from_groups_of_draws():
    draws = 8
    method, path = tracin(draws=draws, batch_size=64), trajectory()

    def groups(batch, noise, count):
        return gradients_by_draw(model, batch, noise).unflatten(0, (count, -1)).mean(1)

    total, own, biased = 0, 0, 0
    for c, weight in enumerate(path.weights("physical")):
        model = TOY.model()
        model.load_state_dict(path[c].state())
        train, query = method.noise(c, "train"), method.noise(c, "query")
        pairs = groups(SAMPLES, train, 8), groups(QUERIES, query, 8)
        total += weight**2 * crossed_variance(torch.einsum("anp,bqp->abnq", *pairs))
        halves = (groups(SAMPLES, half, draws // 2) for half in train.chunk(2))
        own += weight**2 * crossed_variance(torch.einsum("anp,bnp->abn", *halves))
        whole = groups(SAMPLES, train, 8)
        biased += weight**2 * squared_mean_variance(torch.einsum("anp,bnp->abn", whole, whole))
    assert_close(influence(method, standard_errors=True).standard_errors, total.sqrt())
    assert_close(method.self_influence(SAMPLES, standard_errors=True).standard_errors, own.sqrt())
    found = method.self_influence(SAMPLES, standard_errors=True, biased=True)
    assert_close(found.standard_errors, biased.sqrt())


# A loss whose gradient is x + the mean draw: every variance is known.
SHIFTED = objective(lambda model, x, noise: model(x[:, None] + noise).mean((1, 2)), (5,))
LINE = nn.Linear(5, 1, bias=False).double()


def shifted(seed=0, draws=16):
    return TracIn(
        LINE, SHIFTED, [LINE.state_dict()], weights="unit", draws=draws, seed=seed, precision="float64",
        batch_size=64,
    )  # fmt: skip


def test_self_influence_is_unbiased_and_the_papers_form_is_not():
    x = SAMPLES[:3]
    truth = x.square().sum(1)
    for biased in (False, True):
        found = [shifted(seed, 2).self_influence(x, biased=biased).values for seed in range(120)]
        assert_expectation(np.stack(found), truth + biased * 5 / 2)  # tr(Cov) / m


def test_the_plan_finds_the_variances():
    plans = [shifted(seed, 64).plan_draws(SAMPLES[:1], QUERIES[:1], 0.5, 0.1) for seed in range(20)]
    assert np.mean([plan.sample_variance for plan in plans]) == pytest.approx(
        float(QUERIES[0].square().sum()), rel=0.3
    )
    assert np.mean([plan.query_variance for plan in plans]) == pytest.approx(
        float(SAMPLES[0].square().sum()), rel=0.3
    )
    assert np.mean([plan.both_variance for plan in plans]) == pytest.approx(5, rel=0.3)


def test_the_planned_draws_keep_the_error():
    epsilon, delta = 1.5, 0.2
    x, z = SAMPLES[:3], QUERIES[:2]
    plan = shifted(draws=64).plan_draws(x, z, epsilon, delta)
    assert plan.pilot_draws == 64
    assert 1 < plan.draws_at_once < plan.draws
    truth = x @ z.T

    def failures(draws):
        errors = [shifted(seed, draws).influence(x, z).values - truth.numpy() for seed in range(100, 160)]
        return (abs(np.stack(errors)) >= epsilon).mean(0).max()

    assert failures(plan.draws) <= delta
    assert failures(plan.draws_at_once) <= delta
    assert failures(max(2, plan.draws_at_once // 10)) > delta  # it is no empty promise


# --- Refusals ---------------------------------------------------------------------------------------


def not_a_mean(model, x, noise):
    return torch.logsumexp(model(x[:, None] + noise)[..., 0], 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "`draws` must be at least 1, got 0"),
        ({"batch_size": 0}, "`batch_size` must be at least 1, got 0"),
        ({"memory_budget": "lots"}, "`memory_budget` must be a number of bytes, or a text"),
        ({"metric": "fisher"}, "`metric` must be one of trained, identity, adam, got 'fisher'"),
        ({"metric": "adam"}, "needs second moments, but the checkpoint at step 10 keeps none"),
        ({"weights": "some"}, '`weights` must be "physical" or "unit"'),
        ({"path": trajectory(learning_rates=None)}, 'is not known. .*`weights="unit"`'),
        ({"path": trajectory(steps=[0, 5], learning_rates=[1.0, 0.0])}, "whose weight isn't 0"),
        ({"path": []}, "`trajectory` must hold at least one checkpoint, got an empty list"),
        ({"path": [nn.Linear(2, 2).state_dict()], "weights": "unit"}, "The checkpoint .* must fit the model"),
    ],
)
def test_arguments_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        tracin(**options)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (TOY.model().state_dict(), "got a OrderedDict. Put a single state dict into a list"),
        ("runs/mnist", "`trajectory` must be a Trajectory, .* got a str"),
        (3, "`trajectory` must be a Trajectory, .* got a int"),
        ([trajectory(), TOY.model().state_dict()], "or of state dicts, got OrderedDict, Trajectory"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_trajectory(path, message):
    with pytest.raises(TypeError, match=message):
        tracin(path)


def test_a_checkpoint_that_is_not_there():
    with pytest.raises(IndexError, match="`checkpoints` must be positions among the 2"):
        tracin(checkpoints=[2])


def with_nan():
    samples = SAMPLES.clone()
    samples[3, 1] = torch.nan
    return samples


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: tracin().influence(with_nan(), QUERIES),
            "`samples` must be finite, .* the first at position 3",
        ),
        (lambda: tracin().influence(SAMPLES, QUERIES * torch.inf), "`queries` must be finite"),
        (lambda: tracin().influence(SAMPLES, QUERIES[:0]), "`queries` must hold at least one sample"),
        (
            lambda: tracin().influence(SAMPLES[:, :4], QUERIES),
            r"`samples` must be samples that .* shape \(4,\)",
        ),
        (
            lambda: tracin().influence(SAMPLES, QUERIES[:, :2]),
            r"`queries` must be samples that .* shape \(2,\)",
        ),
        (lambda: influence(tracin(), ids=[1, 2]), "`ids` must be one id for each of the 23 samples"),
        (lambda: influence(tracin(), ids=[7] * 23), "`ids` must be different .* 7 occurs 23 times"),
        (
            lambda: influence(tracin(), query_ids="abc"),
            "`query_ids` must be one id for each of the 6 queries",
        ),
        (lambda: influence(tracin(), top=0), "`top` must be between 1 and the 23 samples, got 0"),
        (lambda: influence(tracin(), top=24), "`top` must be between 1 and the 23 samples, got 24"),
        (
            lambda: influence(tracin(), top=2, standard_errors=True),
            "`standard_errors` must be left out with `top`",
        ),
        (lambda: influence(tracin(draws=1), standard_errors=True), "`draws` must be divisible"),
        (
            lambda: tracin(draws=2).self_influence(SAMPLES, standard_errors=True),
            "half of `draws` must be divis",
        ),
        (
            lambda: influence(tracin(memory_budget=100)),
            "`memory_budget` must leave at least .* for one query",
        ),
        (lambda: tracin(memory_budget=100).self_influence(SAMPLES), "for one sample, but leaves 75 B"),
        (
            lambda: tracin(draws=1).self_influence(SAMPLES),
            "`draws` must be at least 2 for an unbiased self-influence, got 1. Use `biased=True` to accept",
        ),
        (lambda: tracin(draws=5).self_influence(SAMPLES), "`draws` must be even for an unbiased"),
        (lambda: shifted().plan_draws(SAMPLES, QUERIES, -1.0, 0.1), "`epsilon` must be positive"),
    ],
)
def test_questions_that_cannot_be_answered(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_dicts_are_named_part_by_part():
    toy = TOYS["dict-of-samples"]
    method = TracIn(toy.model(), toy.objective, [toy.model().state_dict()], weights="unit")
    wrong = {"x": toy.samples["x"][:, :2], "weight": toy.samples["weight"]}
    with pytest.raises(ValueError, match=r"those of parts x: shape \(2,\), weight: shape \(\) were refused"):
        method.influence(wrong, toy.samples)


def test_groups_need_a_mean_over_draws():
    loss = objective(not_a_mean, (5,))
    method = TracIn(LINE, loss, [LINE.state_dict()], weights="unit", draws=8, precision="float64")
    with pytest.raises(ValueError, match="`standard_errors` needs a loss that is the mean over its draws"):
        method.influence(SAMPLES, QUERIES, standard_errors=True)
    with pytest.raises(ValueError, match="`plan_draws` needs a loss that is the mean"):
        method.plan_draws(SAMPLES, QUERIES, 0.1, 0.1)


def test_errors_without_noise_are_refused():
    toy = TOYS["linear"]
    method = TracIn(toy.model(), toy.objective, [toy.model().state_dict()], weights="unit")
    with pytest.raises(ValueError, match="`standard_errors` needs an objective with noise"):
        method.self_influence(toy.samples, standard_errors=True)


def test_a_score_that_is_not_finite_is_refused():
    states = [TOY.model(1).state_dict(), TOY.model(2).state_dict()]
    states[1]["decoder.bias"] += 1e200
    path = Trajectory.from_state_dicts(states, steps=[1, 2], learning_rates=0.1, sample_count=9)
    with pytest.raises(
        ValueError,
        match=r"Scores must be finite, but 23 of .* from 0 to 22 .* at step 2, the first at position 0",
    ):
        influence(tracin(path))


def test_the_objectives_own_refusal_names_the_queries():
    toy = TOYS["mlp-vae"]
    method = TracIn(toy.model(), toy.objective, [toy.model().state_dict()], weights="unit")
    with pytest.raises(ValueError, match=r"`queries` must lie in \[0, 1\]"):
        method.influence(toy.samples, toy.samples * 3)
