-- People who were erased.

CREATE TABLE erasure (
    person  BLOB PRIMARY KEY,               -- keyed digest of the account's number and time of making, or of an address without account
    email   BLOB NOT NULL,                  -- keyed digest of the e-mail address
    at      INTEGER NOT NULL,               -- when it was asked for
    subject TEXT                            -- JSON: who, and the words that are looked for; NULL once all of it is done
) STRICT, WITHOUT ROWID;

CREATE INDEX erasure_under_way ON erasure (at) WHERE subject IS NOT NULL;
