-- Versions of plugins tried on recorded events. What is asked and what came of it are JSON; the package is kept until it ends.
CREATE TABLE backtests (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  -- backtest or gate
  kind TEXT NOT NULL,
  install_id TEXT, plugin_id TEXT NOT NULL, plugin_version TEXT NOT NULL,
  -- queued, running, done, canceled, failed
  status TEXT NOT NULL, starts INTEGER NOT NULL DEFAULT 0,
  asked_json TEXT NOT NULL, package_json TEXT, report_json TEXT, error TEXT,
  created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX backtests_created ON backtests (workspace_id, created_at, id);
CREATE INDEX backtests_open ON backtests (workspace_id, id) WHERE finished_at IS NULL;
-- system: housekeeping.
CREATE INDEX backtests_finished ON backtests (finished_at) WHERE finished_at IS NOT NULL;

-- A version that runs beside the installed one, of which it counts where they differ; the package is kept while it runs.
CREATE TABLE shadows (
  workspace_id TEXT NOT NULL, install_id TEXT NOT NULL,
  plugin_version TEXT NOT NULL,
  -- Of the code that it runs beside: an upgrade ends it.
  beside_sha256 TEXT NOT NULL,
  -- asked, upgraded, removed; null while it runs
  stopped_by TEXT,
  package_json TEXT, report_json TEXT NOT NULL,
  started_at INTEGER NOT NULL, stopped_at INTEGER,
  PRIMARY KEY (workspace_id, install_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX shadows_running ON shadows (workspace_id, install_id) WHERE stopped_at IS NULL;
