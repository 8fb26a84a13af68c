-- Long parts of an answer are not kept with its key but recalled: from the request, which comes again, or from the event log, where
-- they are the data of an event after `after_sequence`.
ALTER TABLE idempotency ADD COLUMN recall_json TEXT;
ALTER TABLE idempotency ADD COLUMN after_sequence INTEGER;
