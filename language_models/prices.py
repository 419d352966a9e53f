"""The price of an endpoint: declared by the admin, 0 for a local model, or looked up in genai-prices."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from domain.language_models import DataUse, Endpoint, Price

_SAMPLE_TOKENS = 1_000  # prices of long prompts differ at some providers


def find_price(endpoint: Endpoint) -> Price | None:
    """Return the price of tokens at an endpoint; None if it is unknown."""
    if endpoint.price_input is not None and endpoint.price_output is not None:
        return Price(input=endpoint.price_input, output=endpoint.price_output, source="declared")
    if endpoint.data_use is DataUse.LOCAL:
        return Price(input=Decimal(0), output=Decimal(0), source="local")
    return _look_up(endpoint.url, endpoint.model)


@lru_cache(maxsize=64)
def _look_up(url: str, model: str) -> Price | None:
    # Importing the table takes 0.2 seconds, and most installations have local models.
    import genai_prices  # noqa: PLC0415 - see above

    try:
        prompt, reply = (
            genai_prices.calc_price(usage, model, provider_api_url=url).total_price
            for usage in (
                genai_prices.Usage(input_tokens=_SAMPLE_TOKENS),
                genai_prices.Usage(output_tokens=_SAMPLE_TOKENS),
            )
        )
    except LookupError:  # the package's error for an unknown provider or model
        return None
    return Price(
        input=1000 * prompt,
        output=1000 * reply,
        source=f"genai-prices {genai_prices.__version__}",
    )
