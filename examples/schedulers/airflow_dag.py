"""An Airflow DAG: every night's logs become tables, are rebuilt and judged. Needs apache-airflow 2.4 or newer.

A task fails with tidegauge's own exit code in its log: 2 a rule is broken (no retry will mend it), 3 could not run.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow import DAG
from airflow.exceptions import AirflowFailException
from airflow.operators.bash import BashOperator
from airflow.operators.empty import EmptyOperator
from airflow.operators.python import PythonOperator

TIDEGAUGE = "/opt/tidegauge/.venv/bin/tidegauge"
WAREHOUSE = "/data/tidegauge/warehouse"
CAPTURE = "/data/kafka-logs/{{ ds }}"
CHECK = [
    TIDEGAUGE, "check", "--warehouse", WAREHOUSE, "--config", "/etc/tidegauge/check.yaml", "--max-age", "26h",
    "--since", "last", "--fail-on", "warn", "--json",
]  # fmt: skip
BROKEN = (1, 2)


def check() -> str:
    """Judge the timelines; what is broken fails the task at once, what could not run is tried again."""
    import subprocess

    done = subprocess.run(CHECK, check=False, capture_output=True, text=True)
    if done.returncode in BROKEN:
        raise AirflowFailException(f"exit code {done.returncode}\n{done.stdout}")
    done.check_returncode()
    return done.stdout


with DAG(
    dag_id="tidegauge",
    schedule="30 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,  # runs of one warehouse follow each other
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
) as dag:
    ingest = BashOperator(
        task_id="ingest",
        bash_command=f"{TIDEGAUGE} ingest {CAPTURE} --warehouse {WAREHOUSE} --cluster-id kafka-prod",
    )
    reconstruct = BashOperator(task_id="reconstruct", bash_command=f"{TIDEGAUGE} reconstruct --warehouse {WAREHOUSE}")
    judge = PythonOperator(task_id="check", python_callable=check)
    report = BashOperator(
        task_id="report", bash_command=f"{TIDEGAUGE} report --warehouse {WAREHOUSE}", trigger_rule="all_done"
    )
    verdict = EmptyOperator(task_id="verdict")  # a run is what its last task is, and a report is written in any case
    ingest >> reconstruct >> judge >> report
    [judge, report] >> verdict
