-- How far a replay has come, beside where it was asked to begin. What an earlier version stored in `after_sequence` is the progress.
ALTER TABLE replays ADD COLUMN current_sequence INTEGER NOT NULL DEFAULT 0;
UPDATE replays SET current_sequence = after_sequence;
