"""What a practice page says itself; sheets, reports and hints speak for themselves."""

from __future__ import annotations

from collections.abc import Mapping

from symattn.foundation.languages import message

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

__all__ = ["BOXES_EMPTY", "BY_A_PERSON", "NO_HINT", "PAGE", "RIGHT", "RIGHT_SO_FAR", "RULE"]
