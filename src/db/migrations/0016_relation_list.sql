-- All relations in the operator's panel, by state.
CREATE INDEX drop_relation_by_state ON drop_relation (state, relation_id);
