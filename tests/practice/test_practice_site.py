"""The files of a practice page: all there, none of a kind that servers do not know, and each package with its list."""

import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from hashlib import sha256
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import browse
import pytest
from browser import missing
from sentences import refused_saying

from symattn.foundation.languages import languages
from symattn.practice import choices, engine
from symattn.practice.site import EITHER, Course, Topic, read_course, write_site
from symattn.practice.words import PAGE

PAGE_FILES = resources.files("symattn.practice") / "page"


@pytest.fixture
def unpacked(monkeypatch):
    """Pyodide, archives, choices and examples that are nothing."""

    def made(folder, teacher, kept):
        return dict.fromkeys([*engine.PACKAGES, *(engine.TEACHERS if teacher else [])], b""), True

    monkeypatch.setattr(engine, "pyodide", lambda folder: {name: name.encode() for name in engine.HASHES})
    monkeypatch.setattr(engine, "archives", made)
    monkeypatch.setattr(choices, "choices", lambda pdf: {})
    monkeypatch.setattr(choices, "examples", lambda languages: {code: {} for code in languages})


def test_a_site_is_whole_and_has_no_file_that_servers_do_not_know(tmp_path, unpacked):
    written, compiled = write_site(read_course(), tmp_path / "site")
    names = {path.name for path in (tmp_path / "site").iterdir()}
    assert compiled
    assert names == {path.name for path in written}
    assert {Path(name).suffix for name in names} <= {".html", ".css", ".js", ".json", ".bin", ".wasm", ".txt"}
    listed = re.search(r"FILES = (\[.*\]);", (tmp_path / "site" / "service.js").read_text("utf-8"))
    assert set(json.loads(listed[1])) == {"./", *names} - {"service.js", *EITHER}
    for name in names:
        if name.endswith((".js", ".html")) and not name.startswith("pyodide"):
            assert not re.search("<<[a-z]+>>", (tmp_path / "site" / name).read_text("utf-8"))


def test_students_keep_no_file_of_the_page_for_teachers(tmp_path, unpacked):
    students = {path.name for path in write_site(read_course(), tmp_path / "one")[0]}
    names = {path.name for path in write_site(read_course(), tmp_path / "two", teacher=True)[0]}
    own = names - students
    assert {"teacher.html", "making.bin", "pypdf.bin"} <= own
    assert all(name.startswith(("teacher", "making.bin", "pypdf.bin")) for name in own)
    listed = re.search(r"FILES = (\[.*\]);", (tmp_path / "two" / "service.js").read_text("utf-8"))
    assert set(json.loads(listed[1])) == {"./", *students} - {"service.js", *EITHER}


def test_an_archive_is_compiled_again_only_if_it_changed(monkeypatch):
    monkeypatch.setattr(engine, "PYTHON", sys.version_info[:2])
    monkeypatch.setattr(engine, "PACKAGES", {"one": ("polib",), "two": ("markupsafe",)})
    first, compiled = engine.archives(None)
    assert compiled
    monkeypatch.setattr(engine, "compiled_here", lambda archive: pytest.fail("it is the same"))
    assert engine.archives(None, kept=first.get) == (first, True)
    monkeypatch.undo()
    monkeypatch.setattr(engine, "PYTHON", sys.version_info[:2])
    monkeypatch.setattr(engine, "PACKAGES", {"one": ("markupsafe",)})
    assert engine.archives(None, kept=first.get)[0]["one"] != first["one"]


@pytest.mark.parametrize(("package", "left_out"), [*engine.LEFT_OUT.items(), ("symattn", engine.OF_MAKING)])
def test_what_pages_do_without_is_there(package, left_out):
    """A name that nothing bears any more says that a file was moved, and that pages are larger for it."""
    folder = resources.files(package)
    assert [name for name in left_out if not folder.joinpath(name).exists()] == []


def test_another_course_makes_another_cache_and_its_title_is_text(tmp_path, unpacked):
    caches = set()
    for title in ("One", "</title><script>1 & 2", "</title><script>1 & 2"):
        write_site(Course((Topic("<b>", "attention"),), title), tmp_path)
        caches.add(re.search(r"symattn-practice-(\w+)", (tmp_path / "service.js").read_text("utf-8"))[1])
    assert len(caches) == 2
    page = (tmp_path / "index.html").read_text("utf-8")
    assert page.count("<script") == 1
    assert "&lt;script&gt;1 &amp; 2" in page


def test_whatever_the_page_says_is_there_in_every_language(tmp_path, unpacked):
    script = (PAGE_FILES / "practice.js").read_text("utf-8")
    html = (PAGE_FILES / "index.html").read_text("utf-8")
    used = {*re.findall(r'\bsay\("(\w+)"', script), *re.findall(r'data-say="(\w+)"', html + script)}
    used |= set(re.findall(r'\["(\w+)", (?:checkLine|hint|exercise)\]', script)) | {"more"}
    levels = {level for topic in read_course().topics for level in topic.levels}
    assert used | levels | {"loading", "drawing"} == set(PAGE)
    write_site(read_course(), tmp_path)
    page = json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert set(page["words"]) == set(page["languages"]) == {*languages()}
    assert all(set(words) == set(PAGE) for words in page["words"].values())
    assert all(set(topic["title"]) >= {"de", "en"} for topic in page["course"]["topics"])


@pytest.mark.parametrize(
    ("edition", "version", "kind"),
    [
        ("1.2", "1.2", "{http://www.adlnet.org/xsd/adlcp_rootv1p2}scormtype"),
        ("2004", "2004 4th Edition", "{http://www.adlnet.org/xsd/adlcp_v1p3}scormType"),
    ],
)
def test_a_package_lists_every_file_and_starts_the_page(tmp_path, unpacked, edition, version, kind):
    write_site(read_course(), tmp_path / "site", scorm=True)
    with zipfile.ZipFile(tmp_path / f"site-scorm-{edition}.zip") as package:
        assert {entry.external_attr >> 16 for entry in package.infolist()} == {0o644}  # a server can read them
        names = set(package.namelist())
        manifest = ElementTree.fromstring(package.read("imsmanifest.xml"))
        page = json.loads(package.read("page.json"))
    [resource] = manifest.iterfind(".//{*}resource")
    assert resource.get("href") == "index.html"
    assert resource.get(kind) == "sco"
    assert {file.get("href") for file in resource} == names - {"imsmanifest.xml"}
    assert manifest.findtext("{*}metadata/{*}schemaversion") == version
    assert "service.js" not in names
    assert (page["scorm"], page["service"]) == (True, False)
    assert not any(name.endswith(".mjs") for name in names)


RESUME = """
import { resumeData, result, sessionTime } from %s;
const course = JSON.parse(process.argv[2]);
const nameOf = (recipe, seed) => `${recipe} --seed ${seed}`;
const said = JSON.parse(process.argv[3]).map((typed) => {
  const best = {};
  for (const topic of course.topics) for (const level of topic.levels) best[`${topic.recipe} --level ${level}`] = 100;
  const last = { recipe: course.topics[0].recipe, seed: 999999 };
  const progress = { best, last, sheets: { [nameOf(last.recipe, last.seed)]: typed } };
  const { text, whole } = resumeData(course, progress, nameOf);
  return { length: text.length, whole, kept: JSON.parse(text) };
});
const [first] = course.topics;
const half = { [`${first.recipe} --level ${first.levels[0]}`]: 90, [`${first.recipe} --level ${first.levels[1]}`]: 40 };
const unnamed = result(course, { [first.recipe]: 90 });
const times = [0, 61_499, 3_600_000].map((t) => [sessionTime(t, true), sessionTime(t, false)]);
console.log(JSON.stringify({ said, half: result(course, half), unnamed, times }));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
@pytest.mark.players
def test_resume_data_fits_whatever_was_typed_and_the_score_is_the_mean_of_all_topics(tmp_path, unpacked):
    write_site(read_course(), tmp_path)
    course = json.loads((tmp_path / "page.json").read_text("utf-8"))["course"]
    (tmp_path / "scorm.mjs").write_text((PAGE_FILES / "scorm.js").read_text("utf-8"), "utf-8")
    (tmp_path / "run.mjs").write_text(RESUME % json.dumps(str(tmp_path / "scorm.mjs")), "utf-8")
    fractions = ["(e^2+e)/(e^2+e+1)"] * 100
    typed = [fractions, [*fractions, "working " * 1000, 'quoted "\n' * 800], ["e^(1/2)/(1+e)"] * 1000, ["文" * 5000]]
    command = ["node", str(tmp_path / "run.mjs"), json.dumps(course), json.dumps(typed)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    assert all(one["length"] <= 4096 for one in found["said"])
    assert [one["whole"] for one in found["said"]] == [True, False, False, False]
    assert found["said"][1]["kept"]["typed"] == [*fractions, "", ""]  # the longest texts go, and the numbers stay
    assert found["half"] == found["unnamed"] == {"percent": 90 // len(course["topics"]), "done": False}
    assert found["times"] == [["PT0H0M0S", "0000:00:00"], ["PT0H1M1S", "0000:01:01"], ["PT1H0M0S", "0001:00:00"]]


def test_pyodide_of_another_version_or_none_is_refused(tmp_path):
    with refused_saying("npm install pyodide@"):
        engine.pyodide(tmp_path)
    for name in engine.HASHES:
        (tmp_path / name).write_bytes(b"something else")
    with refused_saying("is not that of Pyodide"):
        engine.pyodide(tmp_path)


def test_without_a_folder_pyodide_is_fetched_and_known_by_its_hashes(tmp_path, monkeypatch):
    (tmp_path / "one.js").write_bytes(b"first")
    monkeypatch.setattr(engine, "NETWORK", f"{tmp_path.as_uri()}/")
    monkeypatch.setattr(engine, "HASHES", {"one.js": sha256(b"first").hexdigest()})
    assert engine.pyodide(None) == {"one.js": b"first"}
    (tmp_path / "one.js").write_bytes(b"forged")
    with refused_saying("is not that of Pyodide"):
        engine.pyodide(None)
    monkeypatch.setattr(engine, "HASHES", {"two.js": ""})
    with refused_saying("cannot be fetched"):
        engine.pyodide(None)


ALONE = """
import json, re, sys
sys.path[:0] = sys.argv[1:]
from symattn.practice.session import answer
from symattn.teaching.problems import drawn_types
for k, recipe in enumerate(("attention --level starter", *(f"--problem {name}" for name in drawn_types()))):
    said = json.loads(answer(json.dumps({"verb": "draw", "recipe": recipe, "seed": 7, "language": "de"})))
    page = re.sub('<input type="text"', '<input type="text" value="2"', said["html"], count=4)
    every = [{"verb": "mark"}, {"verb": "check", "part": 1}, {"verb": "attempt"}, {"verb": "exercise", "part": 0},
             {"verb": "hint", "part": 1, "row": 1, "column": 1, "level": 4}]
    for more in every[: 1 if k else 5]:
        told = json.loads(answer(json.dumps({"sheet": said["sheet"], "page": page, **more})))
        assert "error" not in told, (recipe, told)
    print(recipe, "sympy" in sys.modules)
"""


FOR_TEACHERS = """
import io, json, sys, zipfile
from base64 import b64decode, b64encode
sys.path[:0] = sys.argv[1:]
from symattn.page.writers import FORMATS
from symattn.practice.teacher import answer
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.problems import drawn_types
every = [*(form for form in FORMATS if form != "latex-body"), *EXPORTERS]
for k, problem in enumerate(drawn_types()):
    choice = {"problem": problem, "seed": 3, "solutions": ["key", ("blank", "partly", "worked", "answers")[k % 4]]}
    said = json.loads(answer(json.dumps({"verb": "files", "choice": choice, "forms": [every[k % len(every)]]})))
    assert "error" not in said, (problem, said)
choice = {"mechanism": "attention", "seed": 3}
for verb in ("draw", "what_if"):
    said = json.loads(answer(json.dumps({"verb": verb, "choice": choice})))
    assert "error" not in said, (verb, said)
exam = {"variants": 1, "question": [{"type": "full", "mechanism": "attention", "level": "starter"}]}
seen = json.loads(answer(json.dumps({"verb": "exam_foreseen", "exam": exam, "students": {}})))
assert seen["marks"], seen
made = json.loads(answer(json.dumps(
    {"verb": "exam", "exam": exam, "students": {}, "secret": "secret " * 3, "forms": ["markdown"]})))
files = zipfile.ZipFile(io.BytesIO(b64decode(made["data"])))
frozen = b64encode(files.read("exam/exam.json")).decode()
paper = next(name for name in files.namelist() if name.startswith("exam/papers/"))
asked = {"exam": frozen, "handed": {"1.md": b64encode(files.read(paper)).decode()}, "forms": ["html"]}
known, wanted = {}, {"": ""}
while wanted:
    said = json.loads(answer(json.dumps({"verb": "marks", "known": known, **asked})))
    wanted = said.get("wanted", {})
    for name, (make, settings, job) in wanted.items():
        job = {"verb": "job", "exam": frozen, "make": make, "settings": settings, "job": job}
        known[name] = json.loads(answer(json.dumps(job)))["answer"]
assert said["rows"], said
"""


def unpack(archive, folder):
    zipfile.ZipFile(io.BytesIO(archive)).extractall(folder)


@pytest.mark.slow
def test_archives_hold_everything_that_the_pages_need(tmp_path):
    """Those for students, and then with what teachers need besides; what the first run compiled is there for both."""
    folders = [tmp_path / name for name in engine.PACKAGES]
    for folder, packages in zip(folders, engine.PACKAGES.values(), strict=True):
        archive = engine.sources(packages)
        # to compile all of SymPy takes longer than what is tried here
        unpack(engine.compiled_here(archive) if folder.name == "symattn" else archive, folder)

    def said(script):
        run = subprocess.run([sys.executable, "-I", "-S", "-c", script, *folders], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout

    assert said(ALONE).startswith("attention --level starter False")  # a plain sheet does without SymPy
    unpack(engine.sources(engine.TEACHERS[engine.MAKING], making=True), folders[0])
    said(FOR_TEACHERS)


LACKING = missing(*browse.PACKAGES)
LOOKED = pytest.mark.skipif(bool(LACKING), reason=LACKING)


@LOOKED
@pytest.mark.players
@pytest.mark.slow
def test_a_page_in_a_browser_says_what_python_says_and_asks_nobody_else(tmp_path):
    browse.write_kept_site(read_course(), tmp_path / "site")
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "site").iterdir()}
    assert sum(sizes.values()) - sizes["sympy.bin"] - sizes["pyodide.wasm"] <= 12_000_000
    made = list(browse.scripts(len(browse.RECIPES)))
    said = browse.browsed(made, tmp_path / "site")
    for one, result in zip(made, said["results"], strict=True):
        here = one["session"].marked(one["sheet"], one["page"]).mark()
        assert {key: result[key] for key in here} == here, one["recipe"]
    assert said["elsewhere"] == []
    assert said["console"] == []
    assert said["axe"] == {"light": [], "dark": [], "lost": []}
    assert [one[:4] for one in said["lost"]] == [[PAGE["lost"], "", True, False]] * 3
    assert all("is not a recipe" in why or "There is no mechanism" in why for *_, why in said["lost"])
    assert said["wide"] == []
    assert said["paper"] == {"clicked": [], "background": "rgb(255, 255, 255)", "cut": 0}
    assert said["hint"]["level"] == 2
    assert said["exercise"] == 1
    assert said["moves"] == [[2, 1], [2, 2], [1, 2], [1, 1], [2, 1], [1, 1]]
    begun = said["begun"]
    assert said["left"] == [[f"{begun}999", "wrong"], [begun, None]]
    assert said["returned"] == [f"{begun}5", begun]
    assert said["kept"] == f"{begun}8"
    assert said["undoable"] == [False, True]
    assert said["focus"] == ["1", "result", True]
    assert said["link"] == [PAGE["copied"], "the address"]
    assert said["tabs"][0].endswith("6")
    assert said["tabs"][1].endswith("4")
    assert said["tabs"][2]
    assert said["sameSheet"][0] == said["sameSheet"][1]
    assert said["sameSheet"][0][1:] == ["41", "42"]
    assert said["undone"][0] == said["undone"][2] != said["undone"][1] == "77"
    assert said["imported"] == [PAGE["imported"], PAGE["not_progress"], PAGE["not_progress"]]
    assert said["goesOn"] == PAGE["imported"]
    assert said["withoutLevel"] == ["Self-attention", "standard"]  # the address says self_attention and no level
    assert said["best"] == "✓ 100 %"
    assert said["offline"] == made[0]["name"]
    assert said["restored"] == said["kept"]
    assert said["offlineToo"] == made[-1]["name"]


@LOOKED
@pytest.mark.players
@pytest.mark.slow
def test_a_learning_platform_is_told_score_and_place(tmp_path):
    """By a package of either edition; the second goes on with what the first had kept."""
    if lacking := missing("scorm-again"):
        pytest.skip(lacking)
    course = Course((Topic("A", "attention", ("starter",)), Topic("B", "self_attention")))
    browse.write_kept_site(course, tmp_path / "site", scorm=True)
    for edition in ("1.2", "2004"):
        with zipfile.ZipFile(tmp_path / f"site-scorm-{edition}.zip") as package:
            package.extractall(tmp_path / edition)
    [right] = browse.scripts(1)
    begun, resumed = browse.on_platforms(right, tmp_path)
    for said in (begun, resumed):
        assert (said["score"], said["status"]) == ("50", "incomplete")
        assert len(said["resume"]) <= 4096
    assert (begun["typed"], resumed["typed"]) == ("", right["typed"][0])
