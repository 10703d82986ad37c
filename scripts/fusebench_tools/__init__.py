"""What the Python scripts share: results files, problems, inputs, statistics, peers, plots."""
