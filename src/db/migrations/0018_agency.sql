-- The agency: clients, their accounts, days, findings, and the queue of their questions.
-- Sellers whose marketplace accounts the agency looks after.
CREATE TABLE agency_client (
    client_id         INTEGER PRIMARY KEY,  -- the client's number
    name              TEXT NOT NULL CHECK (name <> ''), -- as the agency calls it
    search            TEXT NOT NULL,        -- name and tags without case and accents
    notes             TEXT NOT NULL DEFAULT '', -- what the team should know
    tags              TEXT NOT NULL DEFAULT '', -- in lower case, with ", " between
    keeper_id         INTEGER REFERENCES user (user_id) ON DELETE SET NULL, -- who of the team looks after it
    shell_id          INTEGER REFERENCES user (user_id), -- empty shell of user that owns the accounts linked by invitation
    invite_hash       BLOB UNIQUE,          -- SHA-256 of the code in the invitation; NULL without one
    invite_expires_at INTEGER,              -- the invitation works until then
    created_at        INTEGER NOT NULL,     -- when the client was made
    wanted            INTEGER NOT NULL DEFAULT 0 CHECK (wanted IN (0, 1)), -- 1 while it waits for its turn because all were asked for
    tried_at          INTEGER,              -- when a cycle last read its accounts, or tried to
    synced_at         INTEGER,              -- when one last read all of them
    failures          INTEGER NOT NULL DEFAULT 0, -- cycles in a row that did not
    error             TEXT                  -- why, in words for the team
) STRICT;

CREATE INDEX agency_client_by_name ON agency_client (search, client_id);
CREATE INDEX agency_client_by_keeper ON agency_client (keeper_id, client_id);
CREATE INDEX agency_client_by_turn ON agency_client (tried_at, client_id);
CREATE INDEX agency_client_by_shell ON agency_client (shell_id) WHERE shell_id IS NOT NULL;

-- Accounts that the agency looks after, each for one client. They leave with their link.
CREATE TABLE agency_account (
    ml_user_id INTEGER PRIMARY KEY REFERENCES ml_account (ml_user_id) ON DELETE CASCADE, -- the account
    client_id  INTEGER NOT NULL REFERENCES agency_client (client_id) ON DELETE CASCADE, -- whose it is
    owner_id   INTEGER NOT NULL,            -- as in ml_account: whose books hold what was read of it
    joined_at  INTEGER NOT NULL,            -- when it came
    checked_at INTEGER                      -- last checkup
) STRICT;

CREATE INDEX agency_account_by_client ON agency_account (client_id, ml_user_id);
CREATE INDEX agency_account_by_checkup ON agency_account (checked_at, ml_user_id);

-- What every account of a client was like at the end of a civil day; the present day grows.
CREATE TABLE agency_day (
    client_id   INTEGER NOT NULL,           -- 0 holds the sum of all clients
    day         INTEGER NOT NULL,           -- civil day
    ml_user_id  INTEGER NOT NULL,           -- the account; 0 in the sum
    orders      INTEGER NOT NULL,           -- orders that count as a sale
    gross_cents INTEGER NOT NULL,           -- their value, without shipping
    listings    INTEGER NOT NULL,           -- active listings
    claims      INTEGER NOT NULL,           -- open claims
    questions   INTEGER NOT NULL,           -- questions without an answer
    reputation  INTEGER NOT NULL,           -- 1 red to 5 green, 0 without one; in the sum the accounts with 1 or 2
    seen        INTEGER NOT NULL,           -- 1 when the account was looked at that day, 0 when only its sales are known; in the sum how many were
    PRIMARY KEY (client_id, day, ml_user_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER agency_day_comes AFTER INSERT ON agency_day WHEN NEW.client_id > 0
BEGIN
    INSERT INTO agency_day (client_id, day, ml_user_id, orders, gross_cents, listings, claims, questions, reputation, seen)
    VALUES (0, NEW.day, 0, NEW.orders, NEW.gross_cents, NEW.listings, NEW.claims, NEW.questions,
            NEW.reputation IN (1, 2), NEW.seen)
    ON CONFLICT DO UPDATE SET
        orders = orders + NEW.orders, gross_cents = gross_cents + NEW.gross_cents,
        listings = listings + NEW.listings, claims = claims + NEW.claims,
        questions = questions + NEW.questions, reputation = reputation + (NEW.reputation IN (1, 2)),
        seen = seen + NEW.seen;
END;
CREATE TRIGGER agency_day_goes AFTER DELETE ON agency_day WHEN OLD.client_id > 0
BEGIN
    UPDATE agency_day SET
        orders = orders - OLD.orders, gross_cents = gross_cents - OLD.gross_cents,
        listings = listings - OLD.listings, claims = claims - OLD.claims,
        questions = questions - OLD.questions, reputation = reputation - (OLD.reputation IN (1, 2)),
        seen = seen - OLD.seen
    WHERE client_id = 0 AND day = OLD.day AND ml_user_id = 0;
END;
CREATE TRIGGER agency_day_changes AFTER UPDATE ON agency_day WHEN NEW.client_id > 0
BEGIN
    UPDATE agency_day SET
        orders = orders + NEW.orders - OLD.orders,
        gross_cents = gross_cents + NEW.gross_cents - OLD.gross_cents,
        listings = listings + NEW.listings - OLD.listings, claims = claims + NEW.claims - OLD.claims,
        questions = questions + NEW.questions - OLD.questions,
        reputation = reputation + (NEW.reputation IN (1, 2)) - (OLD.reputation IN (1, 2)),
        seen = seen + NEW.seen - OLD.seen
    WHERE client_id = 0 AND day = NEW.day AND ml_user_id = 0;
END;

-- What the last checkup found wrong with an account.
CREATE TABLE agency_finding (
    ml_user_id INTEGER NOT NULL REFERENCES agency_account (ml_user_id) ON DELETE CASCADE, -- the account
    kind       INTEGER NOT NULL,            -- 1 link lost, 2 not read of late, 3 reputation, 4 old claim, 5 old question, 6 no active listing, 7 without stock
    since      INTEGER NOT NULL,            -- since when it is so, as far as is known
    things     INTEGER NOT NULL,            -- how many claims, questions or listings it is about; 1 for the others
    PRIMARY KEY (ml_user_id, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX agency_finding_by_kind ON agency_finding (kind, since, ml_user_id);

-- Questions to the agency's accounts in the order in which the team answers them, kept by triggers.
CREATE TABLE agency_question (
    client_id   INTEGER NOT NULL,           -- whose account was asked
    state       INTEGER NOT NULL,           -- as in question
    place       INTEGER NOT NULL,           -- asked_at of those without an answer, oldest first; else less than 0, newest first
    question_id INTEGER NOT NULL,           -- the marketplace's number
    owner_id    INTEGER NOT NULL,           -- as in question
    ml_user_id  INTEGER NOT NULL,           -- the account
    PRIMARY KEY (client_id, state, place, question_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX agency_question_by_state ON agency_question (state, place, question_id);

-- How many there are by client and state.
CREATE TABLE agency_question_count (
    client_id INTEGER NOT NULL,             -- as in agency_question
    state     INTEGER NOT NULL,             -- as in agency_question
    questions INTEGER NOT NULL,             -- how many
    PRIMARY KEY (client_id, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER agency_question_is_counted AFTER INSERT ON agency_question
BEGIN
    INSERT INTO agency_question_count (client_id, state, questions) VALUES (NEW.client_id, NEW.state, 1)
    ON CONFLICT DO UPDATE SET questions = questions + 1;
END;
CREATE TRIGGER agency_question_is_not_counted AFTER DELETE ON agency_question
BEGIN
    UPDATE agency_question_count SET questions = questions - 1
    WHERE client_id = OLD.client_id AND state = OLD.state;
END;

-- A question that is stored again replaces its row without a DELETE that triggers see.
CREATE TRIGGER question_is_queued AFTER INSERT ON question
WHEN EXISTS (SELECT 1 FROM agency_account WHERE ml_user_id = NEW.ml_user_id AND owner_id = NEW.owner_id)
BEGIN
    DELETE FROM agency_question
    WHERE client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = NEW.ml_user_id)
        AND state = 1 AND place = NEW.asked_at AND question_id = NEW.question_id;
    DELETE FROM agency_question
    WHERE client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = NEW.ml_user_id)
        AND state IN (2, 3) AND place = -NEW.asked_at AND question_id = NEW.question_id;
    INSERT INTO agency_question (client_id, state, place, question_id, owner_id, ml_user_id)
    SELECT client_id, NEW.state, iif(NEW.state = 1, NEW.asked_at, -NEW.asked_at), NEW.question_id, NEW.owner_id, NEW.ml_user_id
    FROM agency_account WHERE ml_user_id = NEW.ml_user_id;
END;
CREATE TRIGGER question_is_not_queued AFTER DELETE ON question
WHEN EXISTS (SELECT 1 FROM agency_account WHERE ml_user_id = OLD.ml_user_id AND owner_id = OLD.owner_id)
BEGIN
    DELETE FROM agency_question
    WHERE client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = OLD.ml_user_id)
        AND state = 1 AND place = OLD.asked_at AND question_id = OLD.question_id;
    DELETE FROM agency_question
    WHERE client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = OLD.ml_user_id)
        AND state IN (2, 3) AND place = -OLD.asked_at AND question_id = OLD.question_id;
END;

CREATE TRIGGER agency_account_comes AFTER INSERT ON agency_account
BEGIN
    INSERT INTO agency_question (client_id, state, place, question_id, owner_id, ml_user_id)
    SELECT NEW.client_id, state, iif(state = 1, asked_at, -asked_at), question_id, owner_id, ml_user_id
    FROM question WHERE owner_id = NEW.owner_id AND state IN (1, 2, 3) AND ml_user_id = NEW.ml_user_id;
END;
CREATE TRIGGER agency_account_goes AFTER DELETE ON agency_account
BEGIN
    DELETE FROM agency_question WHERE client_id = OLD.client_id AND ml_user_id = OLD.ml_user_id;
    DELETE FROM agency_day WHERE client_id = OLD.client_id AND ml_user_id = OLD.ml_user_id;
END;

-- Texts that are kept to answer questions with.
CREATE TABLE saved_reply (
    reply_id   INTEGER PRIMARY KEY,         -- the reply's number
    owner_id   INTEGER REFERENCES user (user_id) ON DELETE CASCADE, -- the seller whose it is; NULL for the agency's
    title      TEXT NOT NULL CHECK (title <> ''), -- what it is chosen by
    text       TEXT NOT NULL CHECK (text <> ''), -- with {comprador}, {anuncio}, {preco}, {estoque} and {loja} to be filled in
    updated_at INTEGER NOT NULL             -- when it was last changed
) STRICT;

CREATE INDEX saved_reply_by_owner ON saved_reply (owner_id, title COLLATE NOCASE, reply_id);

-- What buyers who asked are called, as the marketplace said; forgotten after half a year.
CREATE TABLE buyer_name (
    buyer_id INTEGER PRIMARY KEY,           -- the marketplace's number
    nickname TEXT NOT NULL,                 -- empty when there is none to see
    read_at  INTEGER NOT NULL               -- when it was asked for
) STRICT;

CREATE INDEX buyer_name_by_age ON buyer_name (read_at);

-- What one buyer asked before.
CREATE INDEX question_of_asker ON question (owner_id, asker_id, asked_at) WHERE asker_id IS NOT NULL;
