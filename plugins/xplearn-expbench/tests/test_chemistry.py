"""What counts as a yes, a no, or a molecule; and what RDKit is asked."""

import subprocess
import sys
import time

import pytest
from xplearn_expbench.checkers.chemistry import check, molecule_in, yes_or_no
from xplearn_expbench.spec import Row

from xplearn import DataError, PluginError

pytest.importorskip("rdkit")

from xplearn_expbench.chem.measure import GROUPS, MEASURES, Constraint, constraint, measure
from xplearn_expbench.chem.molecule import LONGEST, faults, parse, scaffold, similarity
from xplearn_expbench.mini.molecules import chemistry
from xplearn_expbench.official.molecules import load


def endpoint(answer="yes"):
    return Row(id="e", question="Does the molecule CCO contain a hydroxyl group?", answer=answer, meta={"form": "endpoint"})


def design(*constraints, answer="CCO"):
    return Row(id="d", question="Give one.", answer=answer, meta={"form": "design", "constraints": list(constraints)})


TWO_CARBONS = {"of": "carbon atom", "min": 2, "max": 2}
ALCOHOL = {"of": "hydroxyl group", "min": 1}


@pytest.mark.parametrize(
    ("completion", "said"),
    [
        ("yes", "yes"),
        ("NO", "no"),
        ("Answer: yes", "yes"),
        ("answer:no.", "no"),
        ("**Answer:** **Yes**", "yes"),
        ("Answer: [yes]", "yes"),
        ("Answer: (No)", "no"),
        ("Answer: 'yes'", "yes"),
        ("Answer: “No”", "no"),
        ("`Answer: yes`", "yes"),
        ("Answer:\nno", "no"),
        ("Answer: _yes_", "yes"),
        (r"So \boxed{yes}", "yes"),
        (r"\boxed{\text{No}}", "no"),
        ("The answer is no", "no"),
        ("The answer is: yes", "yes"),
        ("No, it has no ring.", "no"),
        ("Yes, no ring is missing.", "yes"),
        ("Yes. No carboxylic acid would do that.", "yes"),
        ("No because the ring is saturated", "no"),
        ("yes\nno more text", "yes"),
        ("I first thought no.\nAnswer: yes", "yes"),
        ("Answer: no. Wait.\nAnswer: yes", "yes"),
    ],
)
def test_a_yes_or_a_no_is_read(completion, said):
    assert yes_or_no(completion) == said


@pytest.mark.parametrize(
    "completion",
    [
        "",
        "   \n",
        "yes and no",
        "Answer: yes or no",
        "yes/no",
        "Answer: yes|no",
        "No, yes.",
        "Answer: yes (no)",
        "yes; no",
        "not yes",
        "Answer: not yes",
        "No idea",
        "Answer: no clue",
        "Nope",
        "yesterday",
        "No-brainer",
        "no's",
        "It has a ring, so yes",
        "The molecule is CCO.",
        "Answer:",
        "Answer: Y",
        "Answer: 1",
        "Answer: maybe",
        "Answer: yes\nAnswer: perhaps",
        "Answer: No. Actually, yes",
        "no.. yes",
        "no because yes",
        "No, it does not. Wait, it does.",
        "Yes. Actually, no",
        "yes... no.",
        "yes because no",
        "Answer: no?",
    ],
)
def test_what_says_neither_or_both_is_no_answer(completion):
    verdict = check(endpoint(), completion)
    assert (verdict.score, verdict.status, verdict.parsed) == (0.0, "unparsed", "")


def test_a_yes_is_right_where_yes_is_the_answer_and_wrong_where_no_is():
    assert check(endpoint("yes"), "Answer: Yes").status == "correct"
    assert check(endpoint("no"), "Answer: Yes") == check(endpoint("no"), "yes")
    assert check(endpoint("no"), "yes").status == "wrong"
    assert check(endpoint("no"), "yes").score == 0.0


@pytest.mark.parametrize(
    ("completion", "taken"),
    [
        ("CCO", "CCO"),
        ("Answer: CCO", "CCO"),
        ("Answer: CO", "CO"),
        ("Answer: C", "C"),
        ("Answer: CO (methanol)", "CO"),
        ("Answer: CCO.", "CCO"),
        ("**Answer:** CCO", "CCO"),
        ("Answer: **CCO**", "CCO"),
        ("Answer: `CO`", "CO"),
        ("Answer: `CO` which is methanol", "CO"),
        ("Answer:\n```smiles\nCCO\n```", "CCO"),
        ("Answer: <CCO>", "CCO"),
        ("Answer: $CCO$", "CCO"),
        ("Answer: (CCO)", "CCO"),
        (r"\boxed{CCO}", "CCO"),
        ("SMILES: CCN", "CCN"),
        ("SMILES: CCN is no alcohol. Answer: CCO", "CCO"),
        ("Answer: CCN, no.\nAnswer: CCO", "CCO"),
        ("I propose ethanol, `CCO`, because it is small", "CCO"),
        ("I think CCO is good", "CCO"),
        ("The answer is CC(=O)O, acetic acid", "CC(=O)O"),
        ("Ethylene (C=C) has no oxygen", "C=C"),
        ("Answer: I think CCO", "CCO"),
        ("Answer: [Na+].[Cl-]", "[Na+].[Cl-]"),
        ("Answer: C[N+](=O)[O-]", "C[N+](=O)[O-]"),
        ("CCO\n\nThat is ethanol.", "CCO"),
        ("Answer: ethanol (CCO)", "CCO"),
        ("Answer: acetic acid (CC(=O)O).", "CC(=O)O"),
        ("Answer: <SMILES>CCO</SMILES>", "CCO"),
        ("Answer: CCO, OCC", "CCO"),
        ("Answer: CCO, I think", "CCO"),
        ("CCO\nCCO", "CCO"),
    ],
)
def test_a_molecule_is_found_in_what_was_said(completion, taken):
    assert molecule_in(completion) == taken


@pytest.mark.parametrize(
    "completion",
    [
        "",
        "I can't.",
        "No molecule has two carbons and one oxygen.",
        "Answer: C is methane",
        "ON SO IN COIN I CO",
        "It is a sum C2H6O of atoms",
        "C C O",
        "Answer: not CCO",
        "I would not say CCO",
        "It can't be `CCO`",
        "Answer: not ethanol (CCO)",
        "Answer: ethanol or methanol (CO)",
        "Answer: CCO is wrong",
        "CCO is not it",
        "Answer: CCO. No, CCN",
        "Answer: CCO, no",
        "Answer: CCO or CCN",
        "Answer: CCO, CCN",
        "Answer: CCO; CO",
        "Answer: either CCO or CCN",
        "`CCO` or `CCN`",
        "CCO and CCN",
        "CCO\nCCN",
        "```\nCCO\nCCN\n```",
    ],
)
def test_words_that_would_parse_and_molecules_denied_or_listed_are_none(completion):
    assert molecule_in(completion) == ""
    verdict = check(design(TWO_CARBONS), completion)
    assert (verdict.score, verdict.status) == (0.0, "unparsed")
    assert verdict.parts == {"valid": 0.0, "whole": 0.0, "met": 0.0}


def test_what_stands_after_the_marker_is_the_answer_even_where_it_is_unreadable():
    verdict = check(design(TWO_CARBONS), "CCO is one.\nAnswer: C1CC")
    assert (verdict.status, verdict.parsed) == ("unparsed", "C1CC")


def test_all_constraints_must_be_met_and_the_share_is_told():
    row = design(TWO_CARBONS, ALCOHOL)
    right, half = check(row, "Answer: OCC"), check(row, "Answer: CC")
    assert (right.score, right.status, right.parsed) == (1.0, "correct", "CCO")
    assert right.parts == {"valid": 1.0, "whole": 1.0, "met": 1.0}
    assert (half.score, half.status, half.parts["met"]) == (0.0, "wrong", 0.5)


@pytest.mark.parametrize(
    ("smiles", "fault"),
    [
        ("CCO.CCO", "several fragments"),
        ("[Na+].[Cl-]", "several fragments"),
        ("CC[O-]", "a net charge"),
        ("[C][C]O", "unpaired electrons"),
        ("C[CH]O", "unpaired electrons"),
        ("*CCO", "placeholder atoms"),
        ("C~CO", "unusual bonds"),
    ],
)
def test_what_is_not_one_whole_molecule_is_wrong_whatever_it_meets(smiles, fault):
    assert fault in faults(parse(smiles))
    verdict = check(design({"of": "carbon atom", "min": 0}), f"Answer: {smiles}")
    assert (verdict.score, verdict.status) == (0.0, "wrong")
    assert verdict.parts == {"valid": 1.0, "whole": 0.0, "met": 0.0}


@pytest.mark.parametrize("smiles", ["CCO", "C[N+](=O)[O-]", "[13CH3]O", "[2H]OC", "CS(C)(=O)=O"])
def test_a_whole_molecule_has_no_faults(smiles):
    assert faults(parse(smiles)) == []


@pytest.mark.parametrize(
    "text", ["", " ", "C1CC", "CC(", "c1ccc1C(", "C(C)(C)(C)(C)C", "CC ethane", "CC>>CO", "é", "\x00", "xyz", "C" * (LONGEST + 1)]
)
def test_what_is_no_single_smiles_does_not_parse(text):
    assert parse(text) is None


def test_the_same_molecule_is_equal_however_it_is_written():
    assert parse("OCC") == parse("C(O)C") != parse("CCC")
    assert len({parse("c1ccccc1"), parse("C1=CC=CC=C1")}) == 1


def test_rdkit_complains_as_before_after_we_were_quiet(capfd):
    from rdkit import Chem

    parse("C1CC")
    check(design(ALCOHOL), "Answer: c1ccc")
    assert capfd.readouterr().err == ""
    Chem.MolFromSmiles("C1CC")
    assert "unclosed ring" in capfd.readouterr().err


@pytest.mark.parametrize(
    "completion",
    [
        "C" * 10_000,
        "Answer: " + "C" * 10_000,
        "C1CC" * 2_500,
        "c1ccccc1" * 1_250,
        "C(" * 5_000,
        "C1CC " * 2_000,
        "[" * 10_000,
        "`" * 10_000,
        "answer " * 1_400,
        "Answer: yes" + " " * 10_000 + "x",
        "Answer: yes" + "*" * 10_000,
        "Answer: " + "".join(f"C%{10 + k % 90}" for k in range(2_500)),
    ],
    ids=range(12),
)
def test_pathological_answers_are_judged_at_once(completion):
    began = time.process_time()
    for row in (endpoint(), design(TWO_CARBONS, {"of": "QED", "min": 0.1}, {"of": "similarity", "to": "CCO", "min": 0.5})):
        assert check(row, completion).score in (0.0, 1.0)
    assert time.process_time() - began < 12.0


@pytest.mark.parametrize(
    ("smiles", "groups"),
    [
        ("CCO", {"hydroxyl group": 1}),
        ("Oc1ccccc1", {"hydroxyl group": 1, "benzene ring": 1}),
        ("CC(=O)O", {"carboxylic acid group": 1}),
        ("CC(=O)OC", {"ester group": 1}),
        ("O=COC", {"ester group": 1}),
        ("COC(=O)OC", {}),
        ("COC(=O)NC", {}),
        ("CC(=O)NC", {"amide group": 1}),
        ("CC=O", {"aldehyde group": 1}),
        ("CC(C)=O", {"ketone group": 1}),
        ("COC", {"ether group": 1}),
        ("c1ccoc1", {}),
        ("NCCN", {"primary amine group": 2}),
        ("CC(N)=O", {"amide group": 1}),
        ("CS(N)(=O)=O", {"sulfonamide group": 1}),
        ("CNC", {}),
        ("CC#N", {"nitrile group": 1}),
        ("C[N+](=O)[O-]", {"nitro group": 1}),
        ("CS", {"thiol group": 1}),
        ("CSC", {}),
        ("C=CC#C", {"carbon-carbon double bond": 1, "carbon-carbon triple bond": 1}),
        ("FC(Cl)Br", {"halogen atom": 3}),
        ("c1ccc2ccccc2c1", {"benzene ring": 2}),
        ("CC(=O)Oc1ccccc1C(=O)O", {"ester group": 1, "carboxylic acid group": 1, "benzene ring": 1}),
    ],
)
def test_groups_are_those_a_chemist_would_see(smiles, groups):
    molecule = parse(smiles)
    assert {name: measure(molecule, name) for name in GROUPS if measure(molecule, name)} == groups


def test_measures_of_aspirin_are_the_known_ones():
    aspirin = parse("CC(=O)Oc1ccccc1C(=O)O")
    assert measure(aspirin, "molecular weight") == pytest.approx(180.16, abs=0.01)
    assert measure(aspirin, "logP") == pytest.approx(1.31, abs=0.01)
    assert measure(aspirin, "TPSA") == pytest.approx(63.6, abs=0.1)
    assert measure(aspirin, "QED") == pytest.approx(0.55, abs=0.01)
    counts = {"ring": 1, "aromatic ring": 1, "hydrogen-bond donor": 1, "heavy atom": 13, "carbon atom": 9, "nitrogen or oxygen atom": 4}
    assert {name: measure(aspirin, name) for name in counts} == counts


def test_similarity_is_one_to_itself_and_needs_a_molecule_to_compare_with():
    assert similarity(parse("CCO"), parse("OCC")) == 1.0
    assert similarity(parse("CCO"), parse("c1ccccc1")) < 0.2
    with pytest.raises(DataError, match="'C1CC' is none"):
        check(design({"of": "similarity", "to": "C1CC", "min": 0.5}), "CCO")


def test_a_scaffold_is_rings_and_what_joins_them_and_a_chain_is_its_own():
    assert scaffold(parse("CCc1ccc(C)cc1")) == scaffold(parse("Oc1ccccc1"))
    assert scaffold(parse("C[C@H]1CCCNC1")) == scaffold(parse("C[C@@H]1CCCNC1"))
    assert scaffold(parse("CCO")) == "CCO"


def test_bounds_are_met_at_their_edges():
    ethanol = parse("CCO")
    assert Constraint(of="heavy atom", low=3, high=3).met(ethanol)
    assert not Constraint(of="heavy atom", low=4).met(ethanol)
    assert not Constraint(of="heavy atom", high=2).met(ethanol)


@pytest.mark.parametrize(
    "entry", [{"of": "logP", "min": -1, "max": 2.5}, {"of": "similarity", "min": 0.4, "to": "CCO"}, {"of": "ring", "max": 0}]
)
def test_a_constraint_survives_json(entry):
    assert constraint(entry).json() == entry


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"of": "weight", "min": 1}, "'of' is one of molecular weight, logP"),
        ({"min": 1}, "'of' is one of"),
        ({"of": "logP"}, "needs 'min' or 'max'"),
        ({"of": "logP", "min": "1"}, "needs 'min' or 'max'"),
        ({"of": "logP", "maximum": 1}, "'of' is one of"),
    ],
)
def test_a_malformed_constraint_is_refused(entry, said):
    with pytest.raises(DataError, match=said):
        check(design(entry), "CCO")


def test_malformed_rows_are_refused_by_id():
    with pytest.raises(DataError, match=r"^x: meta.form is 'endpoint' or 'design', not None"):
        check(Row(id="x", question="?", answer="yes"), "yes")
    with pytest.raises(DataError, match=r"^e: the answer of an endpoint is 'yes' or 'no', not 'maybe'"):
        check(endpoint("maybe"), "yes")
    with pytest.raises(DataError, match=r"^d: meta.constraints is a list"):
        check(design(), "CCO")


def test_every_measure_can_be_taken():
    assert all(measure(parse("CCO"), name) >= -1 for name in MEASURES if name != "similarity")


ABSENT = r"chemistry needs the package 'rdkit' .*: pip install 'xplearn-expbench\[chemistry\]'"


def test_without_rdkit_the_task_says_what_to_type_when_it_is_used(monkeypatch, tmp_path):
    (tmp_path / "BBBP.csv").write_text("BBBP,smiles\n1,CCO\n")
    monkeypatch.setitem(sys.modules, "rdkit", None)
    for use in (lambda: check(design(TWO_CARBONS), "CCO"), chemistry, lambda: load(tmp_path)):
        with pytest.raises(PluginError, match=ABSENT):
            use()
    assert check(endpoint(), "yes").status == "correct"


def test_without_rdkit_everything_can_be_imported():
    modules = "checkers.chemistry", "mini.molecules", "official.molecules"
    code = "import sys; sys.modules['rdkit'] = None; import " + ", ".join(f"xplearn_expbench.{name}" for name in modules)
    subprocess.run([sys.executable, "-c", code], check=True)
