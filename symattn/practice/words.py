"""What a practice page says itself; sheets, reports and hints speak for themselves."""

from __future__ import annotations

from collections.abc import Mapping

from symattn.foundation.languages import catalogue, languages, message

RIGHT = message("Right.")
RIGHT_SO_FAR = message("Right so far; some boxes are still empty.")
BOXES_EMPTY = message("Nothing is written here yet.")
BY_A_PERSON = message("This cannot be marked here; a person has to read it.")
NO_HINT = message("There is no hint for this one.")
RULE = message("This is the rule for this entry:")

PAGE: Mapping[str, str] = {
    "loading": message("Loading… The first time takes a little longer."),
    "drawing": message("Preparing a sheet…"),
    "failed": message("This page could not be loaded. Open it from a web server, with a recent browser."),
    "lost_file": message("The file {file} could not be loaded. Please tell whoever put this page on the web."),
    "about": message(
        "Everything runs on your own device, and nothing is sent anywhere. Keys and marks are not protected against "
        "tampering, so this page is for practice, never for exams."
    ),
    "missing": message(
        "PDF, LaTeX and the marking of a class are not offered here; the symattn program on a computer has them."
    ),
    "lost": message("This link does not lead to a sheet. Ask for the link again, or start the course."),
    "start": message("Start the course"),
    "why": message("For teachers"),
    "course": message("Course"),
    "level": message("Level"),
    "starter": message("starter"),
    "standard": message("standard"),
    "long": message("long"),
    "language": message("Language"),
    "skip": message("To the sheet"),
    "new": message("New sheet"),
    "check": message("Check everything"),
    "check_line": message("Check this line"),
    "hint": message("Hint"),
    "more": message("Tell me more"),
    "again": message("Practise this step"),
    "back": message("Back to the sheet"),
    "undo": message("Undo"),
    "working": message("Working"),
    "print": message("Print"),
    "save": message("Save my work"),
    "export": message("Export progress"),
    "import": message("Import progress"),
    "link": message("Copy the link to this sheet"),
    "copied": message("The link is copied."),
    "imported": message("The progress was imported."),
    "not_progress": message("This file does not contain progress from a practice page."),
    "report": message("Report"),
    "score": message("{total} of {of} marks"),
    "best": message("best so far: {percent}%"),
    "choose_box": message("Choose a box first: the hint will be for that box."),
    "no_exercise": message("There is no fresh exercise on this step."),
    "hint_for": message("Hint for row {row}, column {column}"),
    "next": message("Next topic"),
    "kept": message("Your work is kept in this browser."),
    "cut": message("This sheet has too much text to be saved in full: numbers are saved, long texts are not."),
}
"""By the names that the page's script and its HTML know them by."""


TEACHER: Mapping[str, str] = {
    "title": message("Worksheets and keys"),
    "skip": message("To the sheet"),
    "language": message("Language"),
    "loading": message("Getting ready… The first time takes a little longer."),
    "drawing": message("Preparing a sheet…"),
    "still": message("No suitable numbers so far; still looking. You can stop and choose something else."),
    "stopped": message("Stopped. Choose something else, or try other numbers."),
    "failed": message("This page could not be loaded. Open it from a web server, with a recent browser."),
    "lost_file": message("The file {file} could not be loaded. Please tell whoever put this page on the web."),
    "about": message(
        "Everything runs on your own device, and nothing is sent anywhere. Whoever has the address of a sheet can make "
        "its key, so the addresses and commands on this page are for practice, never for exams."
    ),
    "practice": message("Page for students"),
    "views": message("Views"),
    "sheet": message("Sheet and key"),
    "take": message("Take away"),
    "what_if": message("What if?"),
    "choice": message("What is asked"),
    "problem": message("Type of problem"),
    "mechanism": message("Mechanism"),
    "option_what": message("What is worked out"),
    "option_step": message("Step"),
    "option_kind": message("Kind of mask"),
    "option_style": message("How the mask is written"),
    "option_theorem": message("Theorem"),
    "sizes": message("Sizes"),
    "size_n": message("tokens (queries)"),
    "size_m": message("keys and values"),
    "size_d_model": message("width of the inputs"),
    "size_d_k": message("width of queries and keys"),
    "size_d_v": message("width of values"),
    "size_d_ff": message("width of the hidden layer"),
    "size_d_out": message("width of the output"),
    "size_d_h": message("width of the state"),
    "size_d_source": message("width of the source"),
    "size_d_vocab": message("words in the vocabulary"),
    "size_h": message("heads"),
    "numbers": message("Difficulty and numbers"),
    "level": message("Level"),
    "starter": message("starter"),
    "standard": message("standard"),
    "long": message("long"),
    "softmax": message("Weights"),
    "softmax_e": message("powers of e"),
    "softmax_base_2": message("base 2: finite decimals"),
    "softmax_base_3": message("base 3: finite decimals"),
    "softmax_equal": message("all equal"),
    "answers_in": message("Answers"),
    "exact": message("exact"),
    "decimals": message("decimals"),
    "places": message("Decimal places"),
    "mask": message("Mask"),
    "usual": message("as usual"),
    "mask_none": message("none"),
    "mask_causal": message("causal"),
    "mask_past": message("earlier tokens only"),
    "mask_padding": message("padding: real tokens"),
    "mask_window": message("window: tokens back"),
    "mask_prefix": message("prefix: tokens seen by all"),
    "mask_other": message("typed"),
    "mask_value": message("Number, or mask as typed"),
    "more": message("More settings"),
    "on_page": message("On the page"),
    "notation": message("Notation"),
    "sheet_language": message("Language of the sheet"),
    "layout": message("Layout"),
    "layout_matrix": message("matrices"),
    "layout_falk": message("Falk's scheme"),
    "layout_columns": message("two columns"),
    "layout_flow": message("one picture"),
    "conventions": message("Conventions"),
    "conventions_full": message("in full"),
    "conventions_bare": message("formulas only"),
    "conventions_none": message("not stated"),
    "text_size": message("Text size"),
    "paper": message("Paper size"),
    "spacing": message("Spacing"),
    "decimal_sign": message("Decimal sign"),
    "brackets": message("Brackets"),
    "transpose": message("Sign of a transpose"),
    "seed": message("Number of the draw"),
    "another": message("Other numbers"),
    "stop": message("Stop"),
    "shown": message("Shown and taken away"),
    "blank": message("Worksheet"),
    "partly": message("Partly worked"),
    "worked": message("Worked solution"),
    "key": message("Key for markers"),
    "answers": message("Answers alone"),
    "diagnosis": message("Common wrong answers"),
    "no_paper": message("This type of problem has none of these."),
    "marks": message("{marks} marks"),
    "print": message("Print or save as PDF"),
    "save_as": message("Save as {format}"),
    "variants": message("How many variants"),
    "formats": message("Formats"),
    "banks": message("Question banks"),
    "together": message("All in one file"),
    "overview": message("With an overview of all variants"),
    "recipe": message("Print the command that makes the key on worksheets"),
    "download": message("Download"),
    "making": message("{done} of {count} made, about {seconds} s left"),
    "writing": message("Writing the files…"),
    "saved": message("{file} is in your downloads."),
    "no_format": message("Choose a format."),
    "link": message("Link with which students practise this sheet"),
    "command": message("Command that makes the same files"),
    "copy": message("Copy"),
    "copied": message("Copied."),
    "secret": message("Whoever has the link or the command can make the key."),
    "edit": message(
        "Change any number: everything that follows changes with it. Point to an entry to see how it comes about."
    ),
    "as_drawn": message("As drawn"),
    "nothing_behind": message("There is no derivation behind this type of problem."),
    "exam": message("Exam"),
    "exam_title": message("Title"),
    "exam_course": message("Course"),
    "exam_date": message("Date"),
    "exam_time": message("Time allowed"),
    "exam_aids": message("Permitted aids"),
    "exam_variants": message("Different papers"),
    "questions": message("Questions"),
    "no_question": message("No question yet. Choose one at the side and add it."),
    "add_question": message("Add the question that is shown"),
    "points": message("Marks"),
    "remove": message("Remove"),
    "up": message("Move up"),
    "class_list": message("Class list (CSV or Excel, with name and id)"),
    "class_of": message("This exam has the class list {file}: choose that file here as well."),
    "open_exam": message("Open an exam file (exam.toml)"),
    "save_exam": message("Save the exam file"),
    "make_exam": message("Make the papers"),
    "exam_about": message(
        "The variants come from a secret that this page draws at random. It is in the download, together with "
        "exam.json, by which the exam is marked: keep both to yourself."
    ),
    "marking": message("Marking a class"),
    "frozen": message("The exam (exam.json), or the .json of a set of worksheets"),
    "handed_in": message("What was handed in: files, or a zip of them"),
    "policy": message("Marked by"),
    "drop": message("You can also drop files and folders here."),
    "files_chosen": message("{count} files"),
    "mark_all": message("Mark everything"),
    "marked_so_far": message("{done} of {count} read or marked"),
    "too_long": message("took more than {seconds} seconds and was stopped"),
    "result": message("Result"),
    "file": message("File"),
    "name": message("Name"),
    "status": message("Status"),
    "reason": message("Reason"),
    "status_marked": message("marked"),
    "status_pending": message("for a person to look at"),
    "status_broken": message("could not be marked"),
    "status_missing": message("nothing handed in"),
    "marking_about": message(
        "Each piece of work is read and marked apart from this page and is stopped after {seconds} seconds. The "
        "download has the gradebook, a feedback sheet for each student, and the summary."
    ),
    "row_column": message("row {row}, column {column}"),
}
"""The same of the page for teachers."""


def translated(text: str) -> dict[str, str]:
    """A text in every language that has it."""
    found = {code: catalogue(code).template(text) for code in languages()}
    return {"en": text, **{code: own for code, own in found.items() if own is not None}}


__all__ = ["BOXES_EMPTY", "BY_A_PERSON", "NO_HINT", "PAGE", "RIGHT", "RIGHT_SO_FAR", "RULE"]
