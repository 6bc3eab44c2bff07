"""A sheet of one rater as a workbook in the paper's layout, to be filled in without a network and read back.

    A          B                C            D
    (row)      Duties           pay rent     insure        one header line a facet of the section
    Google 1   slaw.example     Found        Not found     one line a row and question, drop-down menus in the cells
    ▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬     a black line between two sections
               Task             shred        stir
               Tool             knife        —
    Google 1   Task             Task Found   …
               Tool             Found        …

A section that is read downwards has a line a step instead, and a column a question:

    (row)      Step             Input        Output
    Bread      Mix.             flour        dough
    Bread      Bake.            dough        bread

Answers that are no options stand in their text form, which may have several lines, and have a hint instead of a menu.
Two hidden sheets carry the words of the menus, and what each cell is and said when the workbook was made.
"""
