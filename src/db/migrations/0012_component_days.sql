-- How the parts of the service were on each day, for the public page about it.

CREATE TABLE component_day (
    component  TEXT NOT NULL,
    day        INTEGER NOT NULL,
    observed_s INTEGER NOT NULL,
    impaired_s INTEGER NOT NULL,
    PRIMARY KEY (component, day)
) STRICT, WITHOUT ROWID;
