"""The paper's tables and figures on any treebank: plan and train the runs, measure them, write the report."""
