-- What was given before there was something to change is not given for it: tokens and apps
-- of before read and act as they did, until their owner widens them.
ALTER TABLE partner_token ADD COLUMN may_change INTEGER NOT NULL DEFAULT 0 CHECK (may_change IN (0, 1));
ALTER TABLE oauth_grant ADD COLUMN may_change INTEGER NOT NULL DEFAULT 0 CHECK (may_change IN (0, 1));

-- Questions in a state, the last asked first.
CREATE INDEX question_by_time ON question (owner_id, state, asked_at, question_id);
