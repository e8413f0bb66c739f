-- Check-ins, points, milestones, challenges and the ranking.
-- What every action of the program gives, and its limits, one row a number.
CREATE TABLE program_rule (
    name  TEXT PRIMARY KEY,                 -- an action such as checkin, or multiplicador
    value INTEGER NOT NULL CHECK (value >= 0) -- points; multipliers in hundredths
) STRICT, WITHOUT ROWID;

INSERT INTO program_rule (name, value) VALUES
    ('checkin', 10), ('aula', 20), ('meet', 50), ('venda', 5), ('conta_vinculada', 30),
    ('desafio', 100), ('volta', 150),
    ('multiplicador', 100), ('multiplicador_streak', 0),
    ('limite_diario', 0), ('limite_venda_diario', 100);

-- Milestones M1 to M20: a student's level is the number of those reached.
CREATE TABLE milestone (
    number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 20), -- 1 to 20
    title  TEXT NOT NULL,                   -- as people read it
    xp     INTEGER NOT NULL CHECK (xp >= 0), -- points that reach it; grows with the number
    badge  TEXT NOT NULL,                   -- what its badge is called
    reward TEXT NOT NULL DEFAULT ''         -- what one gets for it
) STRICT;

CREATE INDEX milestone_by_xp ON milestone (xp, number);

INSERT INTO milestone (number, title, xp, badge) VALUES
    (1, 'Na pista', 150, 'Motor ligado'),
    (2, 'Primeira curva', 300, 'Mãos no volante'),
    (3, 'Pegando ritmo', 500, 'Marcha engatada'),
    (4, 'Volta limpa', 800, 'Capacete novo'),
    (5, 'Pneus quentes', 1200, 'Pneu quente'),
    (6, 'Lado a lado', 1700, 'Ultrapassagem'),
    (7, 'Curva perfeita', 2300, 'Traçado limpo'),
    (8, 'Box em dia', 3000, 'Parada rápida'),
    (9, 'Meio do grid', 4000, 'Meio do grid'),
    (10, 'Zona de pontos', 5200, 'Zona de pontos'),
    (11, 'Tanque cheio', 6600, 'Tanque cheio'),
    (12, 'Vácuo', 8200, 'Mestre do vácuo'),
    (13, 'Volta rápida', 10000, 'Volta rápida'),
    (14, 'Primeira fila', 12500, 'Primeira fila'),
    (15, 'Pole position', 15500, 'Pole position'),
    (16, 'Terceiro lugar', 19000, 'Troféu de bronze'),
    (17, 'Segundo lugar', 23000, 'Troféu de prata'),
    (18, 'Vitória', 28000, 'Troféu de ouro'),
    (19, 'Líder do campeonato', 35000, 'Coroa de louros'),
    (20, 'Lenda da pista', 45000, 'Lenda da pista');

-- The ledger of the program: what gave points to whom and took them back. Rows are only ever added.
CREATE TABLE program_entry (
    student_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose points
    day        INTEGER NOT NULL,            -- civil day it counts for
    at         INTEGER NOT NULL,            -- when it was written
    action     INTEGER NOT NULL CHECK (action BETWEEN 1 AND 8), -- 1 checkin, 2 aula, 3 meet, 4 venda, 5 conta_vinculada, 6 desafio, 7 volta, 8 correcao
    cause      INTEGER NOT NULL,            -- what it is about: the day, lesson, meet, order, account, challenge or number of check-ins
    turn       INTEGER NOT NULL CHECK (turn >= 0), -- of the same cause: 0 given, 1 taken back, 2 given again, and so on
    xp         INTEGER NOT NULL,            -- points, negative when they are taken
    note       TEXT,                        -- in words: a challenge's title, the reason of a correction
    PRIMARY KEY (student_id, day, at, action, cause, turn)
) STRICT, WITHOUT ROWID;

-- Of a cause once; of check-ins the standing says it, because each costs a page.
CREATE UNIQUE INDEX program_entry_once ON program_entry (student_id, action, cause, turn) WHERE action > 1;

-- What each student of the program has: at every moment what the ledger gives.
CREATE TABLE program_student (
    student_id   INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- the student
    joined_at    INTEGER NOT NULL,          -- when the first entry came, or the data was made
    ranked       INTEGER NOT NULL CHECK (ranked IN (0, 1)), -- 1 for a student who is not suspended, kept by a trigger
    entries      INTEGER NOT NULL,          -- entries of the ledger
    xp           INTEGER NOT NULL,          -- points
    xp_at        INTEGER NOT NULL,          -- when they last changed
    month        INTEGER NOT NULL,          -- first day of the newest month with an entry
    month_xp     INTEGER NOT NULL,          -- points of that month
    month_at     INTEGER NOT NULL,          -- when they last changed
    week         INTEGER NOT NULL,          -- Monday of the newest week with an entry
    week_xp      INTEGER NOT NULL,          -- points of that week
    week_at      INTEGER NOT NULL,          -- when they last changed
    checkins     INTEGER NOT NULL,          -- check-ins
    last_checkin INTEGER,                   -- civil day of the last one
    checked_at   INTEGER NOT NULL,          -- when that was; 0 without one
    streak       INTEGER NOT NULL,          -- consecutive days up to it; 0 once a missed day was noted
    best_streak  INTEGER NOT NULL,          -- longest streak
    sales        INTEGER NOT NULL,          -- sales that count
    sales_at     INTEGER NOT NULL           -- when they last changed
) STRICT;

-- The rankings: who was first to reach a number stands before those who reached it later.
CREATE INDEX program_by_xp ON program_student (xp DESC, xp_at, student_id) WHERE ranked = 1;
CREATE INDEX program_by_month ON program_student (month, month_xp DESC, month_at, student_id) WHERE ranked = 1 AND month_xp > 0;
CREATE INDEX program_by_week ON program_student (week, week_xp DESC, week_at, student_id) WHERE ranked = 1 AND week_xp > 0;
CREATE INDEX program_by_streak ON program_student (streak DESC, checked_at, student_id, last_checkin) WHERE ranked = 1 AND streak > 0;
-- Who kept a streak of a week and lost it: who is about to be lost.
CREATE INDEX program_leaving ON program_student (last_checkin, best_streak DESC, student_id) WHERE ranked = 1 AND streak = 0 AND best_streak >= 7;
CREATE INDEX program_by_sales ON program_student (sales DESC, sales_at, student_id) WHERE ranked = 1 AND sales > 0;

CREATE TRIGGER user_leaves_ranking AFTER UPDATE OF role, suspended_at, removed_at ON user
BEGIN
    UPDATE program_student SET ranked = (NEW.kind = 0 AND NEW.standing <> 2)
    WHERE student_id = NEW.user_id AND ranked <> (NEW.kind = 0 AND NEW.standing <> 2);
END;

-- What the program gave, by civil day and action: the charts of the administration.
CREATE TABLE program_day (
    day     INTEGER NOT NULL,               -- civil day
    action  INTEGER NOT NULL,               -- as in program_entry; 0 counts streaks that ended
    entries INTEGER NOT NULL,               -- given less taken back
    xp      INTEGER NOT NULL,               -- points
    PRIMARY KEY (day, action)
) STRICT, WITHOUT ROWID;

-- Seasonal challenges: so many of an action within a period.
CREATE TABLE challenge (
    challenge_id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, because the ledger names it
    title        TEXT NOT NULL,             -- as people read it
    description  TEXT NOT NULL DEFAULT '',  -- what it is about
    action       INTEGER NOT NULL CHECK (action BETWEEN 1 AND 7), -- as in program_entry
    goal         INTEGER NOT NULL CHECK (goal > 0), -- how many of the action
    starts_on    INTEGER NOT NULL,          -- first civil day
    ends_on      INTEGER NOT NULL,          -- last civil day
    reward_xp    INTEGER,                   -- points; NULL for those of the action desafio
    reward       TEXT NOT NULL DEFAULT '',  -- what else one gets
    met          INTEGER NOT NULL DEFAULT 0, -- students who reached it
    settled      INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)), -- 1 once those who had reached the goal before have it
    created_at   INTEGER NOT NULL,          -- when it was made
    updated_at   INTEGER NOT NULL           -- when it was last changed
) STRICT;

CREATE INDEX challenge_by_action ON challenge (action, ends_on, starts_on);
CREATE INDEX challenge_unsettled ON challenge (challenge_id) WHERE settled = 0;
CREATE INDEX challenge_by_end ON challenge (ends_on, challenge_id);

-- The last look whether everybody has what the ledger gives: one row.
CREATE TABLE program_recount (
    recount_id  INTEGER PRIMARY KEY CHECK (recount_id = 1), -- 1
    begun_at    INTEGER NOT NULL,           -- when it was asked for
    position    INTEGER NOT NULL,           -- the last student that was looked at
    looked_at   INTEGER NOT NULL,           -- students looked at
    students    INTEGER NOT NULL,           -- students there were when it began
    ended_at    INTEGER,                    -- when it was done; NULL while it goes on
    mended      INTEGER NOT NULL            -- students who had something else
) STRICT;

-- Students of whom it found something else than the ledger gives; mended all at once at its end.
CREATE TABLE program_mend (
    student_id INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE -- the student
) STRICT;
