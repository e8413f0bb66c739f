-- What is told of what is gone when it is told: an account that was disconnected.
ALTER TABLE webhook_event ADD COLUMN data TEXT;
