"""Files of published molecules: recognised, cleaned, split, and refused where they are damaged."""

import gzip
from collections import Counter

import pytest

from xplearn import DataError

pytest.importorskip("rdkit")

from xplearn_expbench.chem.molecule import parse, scaffold
from xplearn_expbench.official.molecules import Report, load, report

ESOL = "Compound ID,measured log solubility in mols per litre,smiles\n"


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_molecule_becomes_a_question(file):
    (row,) = load(file("BBBP.csv", "BBBP,smiles\n1,CCO\n"))
    assert (row.id, row.question, row.answer) == ("bbbp/BBBP.csv:2", "Does the molecule CCO pass the blood-brain barrier?", "yes")
    assert row.meta == {"form": "endpoint", "endpoint": "bbbp", "smiles": "CCO", "scaffold": "CCO"}


def test_the_older_form_of_bbbp_is_read_too(file):
    (row,) = load(file("BBBP.csv", "num,name,p_np,smiles\n1,ethanol,0,CCO\n"))
    assert row.answer == "no"


def test_clintox_asks_two_questions_of_every_drug(file):
    rows = load(file("clintox.csv", "smiles,FDA_APPROVED,CT_TOX\nCCO,1,0\n"))
    assert [(row.meta["endpoint"], row.answer) for row in rows] == [("fda_approved", "yes"), ("ct_tox", "no")]


def test_esol_asks_for_a_millimole_per_litre(file):
    rows = load(file("delaney-processed.csv", ESOL + "a,-3.0,CCO\nb,-3.001,CCC \n"))
    assert [row.answer for row in rows] == ["yes", "no"]
    assert rows[1].meta["smiles"] == "CCC"


def test_repeated_contradictory_and_unreadable_molecules_are_left_out_and_counted(file):
    lines = ["1,CCO", "1,OCC", "1,CCC", "0,C(C)C", "0,C1CC", "0,", "0,CCN"]
    path = file("BBBP.csv", "BBBP,smiles\n" + "\n".join(lines) + "\n\n")
    assert [(row.meta["smiles"], row.answer) for row in load(path)] == [("CCO", "yes"), ("CCN", "no")]
    assert report(path) == [Report(endpoint="bbbp", lines=7, unparsable=2, duplicates=1, contradictory=2, kept=2, yes=1)]


@pytest.mark.parametrize(
    ("name", "text", "endpoint", "split"),
    [
        ("hia_hou.csv", "Drug_ID,Drug,Y\nx,CCO,1\n", "hia_hou", ""),
        ("HIA_Hou.tab", "Drug_ID\tDrug\tY\nx\tCCO\t1.0\n", "hia_hou", ""),
        ("ames/train_val.csv", "Drug_ID,Drug,Y\nx,CCO,1\n", "ames", "train"),
        ("ames/test.csv", "Drug_ID,Drug,Y\nx,CCO,1\n", "ames", "test"),
        ("ames/valid.csv", "Drug_ID,Drug,Y\nx,CCO,1\n", "ames", "dev"),
    ],
)
def test_a_tdc_file_is_named_after_its_endpoint_or_its_folder_is(file, name, text, endpoint, split):
    (row,) = load(file(name, text), scaffold_split=False)
    assert (row.meta["endpoint"], row.answer, row.split) == (endpoint, "yes", split)
    assert "CCO" in row.question


def test_a_molecule_that_tdc_tests_and_trains_on_is_only_tested_on(file):
    file("ames/train_val.csv", "Drug_ID,Drug,Y\nx,CCO,1\ny,CCN,0\n")
    folder = file("ames/test.csv", "Drug_ID,Drug,Y\nx,OCC,1\n").parent
    assert {row.meta["smiles"]: row.split for row in load(folder)} == {"OCC": "test", "CCN": "train"}


def test_a_scaffold_is_on_one_side_in_every_file(file):
    benzenes = [f"Cc1ccc({text})cc1" for text in ("C", "O", "N", "F", "Cl", "Br", "CC", "OC")]
    file("BBBP.csv", "BBBP,smiles\n" + "".join(f"{n % 2},{smiles}\n" for n, smiles in enumerate(benzenes[:4])))
    folder = file("x/delaney-processed.csv", ESOL + "".join(f"x,-1,{smiles}\n" for smiles in benzenes[4:])).parents[1]
    assert len({row.split for row in load(folder)}) == 1
    assert {row.split for row in load(folder, scaffold_split=False)} == {""}


def test_gzip_and_a_byte_order_mark_are_read(file):
    text = "\ufeffsmiles,FDA_APPROVED,CT_TOX\r\nCCO,1,0\r\n".encode()
    assert len(load(file("clintox.csv.gz", gzip.compress(text)))) == 2


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("BBBP.csv", "", "BBBP.csv: holds no molecules; get it again"),
        ("BBBP.csv", "p,smiles\n1,CCO\n", "BBBP.csv, line 1: has the columns p, smiles; wanted"),
        ("BBBP.csv", "BBBP\n1\n", "BBBP.csv, line 1: has the columns BBBP; wanted"),
        ("BBBP.csv", "BBBP,smiles\n1,CCO\n1\n", "BBBP.csv, line 3: has 1 cells where the header has 2"),
        ("BBBP.csv", "BBBP,smiles\n1,CCO,1\n", "BBBP.csv, line 2: has 3 cells where the header has 2"),
        ("BBBP.csv", "BBBP,smiles\n1,CCO\n2,CCN\n", "BBBP.csv, line 3: '2' is no label of bbbp"),
        ("BBBP.csv", "BBBP,smiles\nnan,CCO\n", "BBBP.csv, line 2: 'nan' is no label"),
        ("BBBP.csv", "BBBP,smiles\n,CCO\n", "BBBP.csv, line 2: '' is no label"),
        ("esol.csv", ESOL + "x,soluble,CCO\n", "esol.csv, line 2: 'soluble' is no label of esol"),
        ("esol.csv", ESOL + "x,nan,CCO\n", "esol.csv, line 2: 'nan' is no label of esol"),
        ("BBBP.csv", b"BBBP,smiles\n1,\xff\n", "BBBP.csv, line 2: is not UTF-8"),
        ("BBBP.csv", 'BBBP,smiles\n1,"CCO\n', "BBBP.csv, line 2: is no row of a table"),
        ("clintox.csv.gz", b"smiles,FDA_APPROVED,CT_TOX\n", "clintox.csv.gz: cannot be read"),
        ("mine.csv", "Drug_ID,Drug,Y\nx,CCO,1\n", "mine.csv: holds an unknown endpoint 'mine'; name the file"),
        ("hia_hou.csv", "Drug_ID,Drug,Y\nx,CCO,0.7\n", "hia_hou.csv, line 2: '0.7' is no label of hia_hou"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(file, name, text, said):
    with pytest.raises(DataError) as refused:
        load(file(name, text))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_nothing_to_read_is_said(tmp_path):
    with pytest.raises(DataError, match=r"holds no .csv, .csv.gz, .tab file; wanted BBBP.csv"):
        load(tmp_path)
    with pytest.raises(DataError, match=r"BBBP.csv: cannot be read"):
        load(tmp_path / "BBBP.csv")


@pytest.fixture(scope="module")
def published(data_folder):
    return data_folder / "chem_moleculenet"


def test_the_published_files_hold_what_is_known_of_them(published):
    assert report(published) == [
        Report(endpoint="bbbp", lines=2050, unparsable=11, duplicates=54, contradictory=20, kept=1965, yes=1500),
        Report(endpoint="fda_approved", lines=1484, unparsable=4, duplicates=0, contradictory=38, kept=1442, yes=1367),
        Report(endpoint="ct_tox", lines=1484, unparsable=4, duplicates=0, contradictory=38, kept=1442, yes=93),
        Report(endpoint="esol", lines=1128, unparsable=0, duplicates=11, contradictory=0, kept=1117, yes=578),
    ]


def test_the_published_rows_are_apart_by_molecule_and_scaffold(published):
    rows = load(published)
    assert len({row.id for row in rows}) == len(rows) == 5966
    shares = Counter(row.split for row in rows)
    assert 0.7 < shares["train"] / len(rows) < 0.9
    assert min(shares.values()) > 0.05 * len(rows)
    sides = {}
    for row in rows:
        sides.setdefault(row.meta["scaffold"], set()).add(row.split)
    assert all(len(splits) == 1 for splits in sides.values())
    assert all(scaffold(parse(row.meta["smiles"])) == row.meta["scaffold"] for row in rows[:20])
