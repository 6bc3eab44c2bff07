"""What a site's robots.txt asks of programs (RFC 9309)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protego import Protego

# Programs that gather text for the training of models; most sites that do not want that name some of them.
AI_AGENTS = (
    "AI2Bot",
    "Amazonbot",
    "Applebot-Extended",
    "Bytespider",
    "CCBot",
    "ClaudeBot",
    "cohere-ai",
    "Diffbot",
    "FacebookBot",
    "Google-Extended",
    "GPTBot",
    "meta-externalagent",
    "Omgilibot",
    "PerplexityBot",
    "anthropic-ai",
)
MAX_BYTES = 500 * 2**10  # of the file that are read, as the RFC asks at least
LONGEST_DELAY = 60.0  # seconds between two visits that are kept to, whatever the file asks


@dataclass(frozen=True)
class Robots:
    """The rules of one site; `text` "" where it has none: all is allowed."""

    text: str

    @cached_property
    def _rules(self) -> Protego:
        return Protego.parse(self.text)

    def allows(self, agent: str, url: str) -> bool:
        return not self.text or bool(self._rules.can_fetch(url, agent))

    def delay(self, agent: str) -> float:
        """Seconds that it wants between two visits, 0 where it says nothing."""
        return min(float(self._rules.crawl_delay(agent) or 0), LONGEST_DELAY) if self.text else 0.0

    def refused_ai_agents(self, url: str) -> list[str]:
        """Those of `AI_AGENTS` that may not fetch a page, be it by name or with all others."""
        return [agent for agent in AI_AGENTS if not self.allows(agent, url)]
