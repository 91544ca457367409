"""Sentences for a model about unavailable tool servers; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "server_slow": "The tool server {server} did not respond in time, so its tools are unavailable for this answer.",
    "server_broken": "The tool server {server} cannot be used right now, so its tools are unavailable for this answer.",
    "server_large": (
        "The tools of the tool server {server} do not fit into your context window, so they are unavailable."
    ),
}

CHINESE: Mapping[str, str] = {
    "server_slow": "工具服务器 {server} 没有及时响应，因此本轮无法使用它的工具。",
    "server_broken": "工具服务器 {server} 目前无法使用，因此本轮无法使用它的工具。",
    "server_large": "工具服务器 {server} 的工具放不进你的上下文窗口，因此无法使用。",
}
