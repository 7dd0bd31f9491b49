"""What an exam file says is read whole; what is wrong with one stands in `tests/wrong_input.toml`."""

from symattn.teaching.exam.spec import is_exam, read_exam_file

HEAD = 'title = "Midterm"\n'
QUESTION = '[[question]]\ntype = "full"\nmechanism = "attention"\n'


def read(folder, text, class_list=None):
    path = folder / "midterm.toml"
    path.write_text(text, "utf-8")
    if class_list is not None:
        (folder / "class.csv").write_text(class_list, "utf-8")
    return read_exam_file(path)


def test_everything_is_read(tmp_path):
    spec = read(
        tmp_path,
        HEAD + 'course = "C"\ntime = "60 minutes"\nclass = "class.csv"\nlevel = "starter"\ntext_size = 18\n'
        'instructions = ["Be neat."]\n' + QUESTION + 'points = 12\nscale = "none"\nsizes = {n = 3, d_k = 2, d_v = 2}\n'
        '[[question]]\ntype = "full"\nlevel = "standard"\n',
        "name,id\n" + "".join(f"N{k},{k}\n" for k in range(50)),
    )
    first, second = spec.questions
    assert (spec.title, spec.course, spec.look.text_size, spec.instructions) == ("Midterm", "C", 18, ("Be neat.",))
    assert spec.variants == 13  # a quarter of fifty
    assert len(spec.students) == 50
    assert (first.points, first.spec.level, first.spec.mechanism) == (12, "starter", "attention")
    assert first.spec.chosen_settings().scale == "none"
    assert first.spec.chosen_sizes() == {"n": 3, "m": 3, "d_k": 2, "d_v": 2}
    assert (second.points, second.spec.level, second.spec.mechanism) == (None, "standard", "self_attention")


def test_an_exam_is_told_from_a_problem_by_its_questions_and_has_ten_variants_where_nothing_is_said(tmp_path):
    assert read(tmp_path, HEAD + QUESTION).variants == 10
    assert is_exam(tmp_path / "midterm.toml")
    (tmp_path / "problem.toml").write_text('mechanism = "attention"\n')
    assert not is_exam(tmp_path / "problem.toml")
