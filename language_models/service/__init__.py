"""Services for language models, for pages, commands and the stages that ask models."""

from language_models.batch_files import BatchFormat
from language_models.service.batches import BatchReading, read_batch_file, write_batch_files
from language_models.service.endpoints import (
    EndpointState,
    call_test,
    list_data_use,
    list_endpoints,
    load_endpoint,
    record_test,
    retire_endpoint,
    save_endpoint,
    set_data_use,
)
from language_models.service.prompts import PromptVersion, list_prompts, load_prompt, save_prompt
from language_models.service.run_job import MODEL_RUN, RunParameters, describe_progress, work_on_run
from language_models.service.runs import (
    RequestDetails,
    RequestOverview,
    cancel_run,
    create_run,
    list_requests,
    list_runs,
    load_progress,
    load_request,
    load_run,
    open_run,
    pause_run,
    replay_run,
)

__all__ = [
    "MODEL_RUN",
    "BatchFormat",
    "BatchReading",
    "EndpointState",
    "PromptVersion",
    "RequestDetails",
    "RequestOverview",
    "RunParameters",
    "call_test",
    "cancel_run",
    "create_run",
    "describe_progress",
    "list_data_use",
    "list_endpoints",
    "list_prompts",
    "list_requests",
    "list_runs",
    "load_endpoint",
    "load_progress",
    "load_prompt",
    "load_request",
    "load_run",
    "open_run",
    "pause_run",
    "read_batch_file",
    "record_test",
    "replay_run",
    "retire_endpoint",
    "save_endpoint",
    "save_prompt",
    "set_data_use",
    "work_on_run",
    "write_batch_files",
]
