"""What is taught: derivations on a page, questions, problem types, fair variants, worksheets and exams."""
