import pytest

torch = pytest.importorskip("torch")

from xplearn.errors import ContractError  # noqa: E402
from xplearn.learning import optim  # noqa: E402


def _parameters():
    torch.manual_seed(0)
    return {"a/weight": torch.nn.Parameter(torch.randn(3, 2)), "norm": torch.nn.Parameter(torch.ones(2))}


def _step(parameters, optimizer):
    loss = ((parameters["a/weight"] @ parameters["norm"]) ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def test_linear_rate_falls_to_just_above_zero_and_never_reaches_it():
    assert [optim.rate("linear", step, 4) for step in range(4)] == [1.0, 0.75, 0.5, 0.25]


def test_cosine_rate_is_half_in_the_middle():
    assert optim.rate("cosine", 0, 10) == 1.0
    assert optim.rate("cosine", 5, 10) == pytest.approx(0.5)


def test_constant_rate_stays_at_the_peak():
    assert {optim.rate("constant", step, 7) for step in range(7)} == {1.0}


def test_warmup_rises_in_a_line_and_meets_the_peak():
    assert [optim.rate("linear", step, 8, warmup=3) for step in range(4)] == [0.25, 0.5, 0.75, 1.0]


def test_only_matrices_are_decayed():
    parameters = _parameters()
    before = {name: value.detach().clone() for name, value in parameters.items()}
    optimizer = optim.adamw(parameters, lr=0.1, weight_decay=0.5)
    for value in parameters.values():
        value.grad = torch.zeros_like(value)
    optimizer.step()
    assert torch.allclose(parameters["a/weight"], before["a/weight"] * 0.95)
    assert torch.equal(parameters["norm"], before["norm"])


def test_the_last_pattern_that_matches_a_name_gives_its_rate():
    parameters = _parameters()
    assert optim.peaks(parameters, 0.1, {"a*": 0.2, "*": 0.3, "nor*": 0.4}) == {"a/weight": 0.3, "norm": 0.4}
    assert optim.peaks(parameters, 0.1, {}) == {"a/weight": 0.1, "norm": 0.1}


def test_every_parameter_moves_at_its_own_rate_and_all_rates_fall_together():
    parameters = _parameters()
    before = {name: value.detach().clone() for name, value in parameters.items()}
    optimizer = optim.adamw(parameters, lr=0.1, weight_decay=0.0, groups={"norm": 0.01})
    optim.scale_rates(optimizer, 0.5)
    _step(parameters, optimizer)
    distances = {name: float((value.detach() - before[name]).abs().max()) for name, value in parameters.items()}
    assert distances == pytest.approx({"a/weight": 0.05, "norm": 0.005}, rel=1e-4)


def test_a_pattern_that_matches_nothing_is_refused_with_names_there_are():
    optim.require_matches(_parameters(), ["a*", "*"], learner="test")
    with pytest.raises(ContractError, match=r"test: lr_groups 'b\*' matches none of the 2 trained parameters, e\.g\. a/weight, norm"):
        optim.require_matches(_parameters(), ["b*"], learner="test")


def test_moments_go_on_in_another_optimiser_and_what_has_none_starts_afresh():
    parameters = _parameters()
    first = optim.adamw(parameters, lr=0.05, weight_decay=0.0)
    _step(parameters, first)
    kept = {name: value for name, value in optim.moments(parameters, first).items() if name.endswith("norm")}
    second = optim.adamw(parameters, lr=0.05, weight_decay=0.0)
    optim.set_moments(kept, parameters, second)
    assert float(second.state[parameters["norm"]]["step"]) == 1.0
    assert not second.state[parameters["a/weight"]]


def test_unpacked_state_goes_on_exactly_where_it_was():
    straight, broken = _parameters(), _parameters()
    first = optim.adamw(straight, lr=0.05, weight_decay=0.01)
    second = optim.adamw(broken, lr=0.05, weight_decay=0.01)
    for _ in range(2):
        _step(straight, first)
        _step(broken, second)
    state = optim.pack(broken, second)
    _step(broken, second)
    fresh = _parameters()
    third = optim.adamw(fresh, lr=0.05, weight_decay=0.01)
    optim.unpack(state, fresh, third)
    _step(straight, first)
    _step(fresh, third)
    assert all(torch.equal(straight[name], fresh[name]) for name in straight)


def test_packed_state_does_not_change_with_further_training():
    parameters = _parameters()
    optimizer = optim.adamw(parameters, lr=0.05, weight_decay=0.0)
    _step(parameters, optimizer)
    state = optim.pack(parameters, optimizer)
    copy = {name: value.clone() for name, value in state.items()}
    _step(parameters, optimizer)
    assert all(torch.equal(state[name], copy[name]) for name in state)
    assert sorted(state) == sorted(f"{kind}/{name}" for kind in ("parameter", "step", "exp_avg", "exp_avg_sq") for name in parameters)


def test_an_exception_puts_the_parameters_back():
    parameters = _parameters()
    before = parameters["norm"].detach().clone()

    def interrupted():
        with optim.all_or_nothing(parameters):
            optim.restore(parameters["norm"], torch.zeros(2))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert torch.equal(parameters["norm"], before)


def test_keyed_dropout_depends_on_its_seed_alone_and_leaves_the_global_generator():
    state = torch.get_rng_state()
    draws = []
    for seed in (1, 2, 1):
        with optim.keyed_dropout(seed, torch.device("cpu")):
            draws.append(torch.rand(4))
    assert torch.equal(draws[0], draws[2])
    assert not torch.equal(draws[0], draws[1])
    assert torch.equal(torch.get_rng_state(), state)
