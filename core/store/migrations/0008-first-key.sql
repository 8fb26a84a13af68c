-- The key of the first start, as `<workspace>/<key>`, until it has been shown: a start that is killed before is finished by the next one.
ALTER TABLE installation ADD COLUMN unseen_key TEXT;
