"""The layers of what is open: sequences of bytes, each with the fields that own them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.core.field import Field
from inspector.core.kinds import Kind
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span, Spans
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.views import LayerInfo, LayerKind
from inspector.operations.session.inner_fields import StreamMapping

MAX_CONTENTS = 16
"""Contents of members kept at once; each may hold a temporary file."""


@dataclass(slots=True)
class Layer:
    """One layer. ``archive`` is the archive its bytes come from and ``at`` that archive's place among all."""

    info: LayerInfo
    source: Source
    archive: Opened
    at: int
    _decoded: Sequence[Field] = ()
    _mapped: Sequence[Field] = ()
    _mapping: StreamMapping | None = None

    def fields(self) -> Sequence[Field]:
        """The fields in this layer's own positions; new ones after the decoder has laid them."""
        if self.info.kind is LayerKind.FILE:
            return self.archive.fields
        if self.info.kind is LayerKind.CONTENT:
            return (Field("content", Kind.DATA, (Span(0, self.source.size),), member=self.info.member),)
        laid = self.archive.fields
        if laid is not self._decoded:
            self._mapped, self._decoded = self.mapping().fields(laid), laid
        return self._mapped

    def mapping(self) -> StreamMapping:
        """The way into the inner stream."""
        if self._mapping is None:
            assert isinstance(self.source, SplicedSource)
            self._mapping = StreamMapping(self.source)
        return self._mapping

    def in_file(self, spans: Spans) -> Spans:
        """Spans of this layer as spans of the file; none for decoded content, which stands nowhere in it."""
        if self.info.kind is LayerKind.FILE:
            return spans
        if self.info.kind is LayerKind.CONTENT:
            return ()
        assert isinstance(self.source, SplicedSource)
        return tuple(outer for span in spans for outer in self.source.outer(span.start, span.stop))

    def from_file(self, spans: Spans) -> Spans:
        """Spans of the file as spans of this layer, as far as they are in it; none for decoded content."""
        if self.info.kind is LayerKind.FILE:
            return spans
        return () if self.info.kind is LayerKind.CONTENT else self.mapping().spans(spans)


class Layers:
    """All layers by number: the files first (0 for a single one), then inner streams and contents as they appear."""

    def __init__(self, files: int) -> None:
        self._all: dict[int, Layer] = {}
        self._inner: set[int] = set()
        self._next = files

    def add_file(self, at: int, title: str, archive: Opened) -> None:
        """Add the whole file of an archive; its number is the archive's."""
        if at not in self._all:
            self._all[at] = Layer(
                LayerInfo(at, LayerKind.FILE, title, archive.source.size), archive.source, archive, at
            )

    def infos(self) -> tuple[LayerInfo, ...]:
        """All layers that exist, in the order of their numbers."""
        return tuple(layer.info for _, layer in sorted(self._all.copy().items()))

    def __getitem__(self, number: int) -> Layer:
        layer = self._all.get(number)
        if layer is None:
            raise Refused(f"Layer {number} does not exist.")
        return layer

    def add_inner(self, at: int, archive: Opened) -> bool:
        """Add the inner stream of an archive once it has one; says whether it was added now."""
        if archive.inner is None or at in self._inner:
            return False
        self._inner.add(at)
        self._add(LayerKind.INNER, "Inner stream", archive.inner, self._all[at], None)
        return True

    def content(self, member: int) -> Layer | None:
        """The layer of a member's content, where it exists already."""
        return next((layer for layer in self._contents() if layer.info.member == member), None)

    def add_content(self, title: str, source: Source, at: int, member: int) -> Layer:
        """Add a member's content; the oldest one goes when there are too many."""
        contents = self._contents()
        if len(contents) >= MAX_CONTENTS:
            del self._all[contents[0].info.layer]
        return self._add(LayerKind.CONTENT, title, source, self._all[at], member)

    def _contents(self) -> list[Layer]:
        return [layer for layer in self._all.values() if layer.info.kind is LayerKind.CONTENT]

    def _add(self, kind: LayerKind, title: str, source: Source, file: Layer, member: int | None) -> Layer:
        info = LayerInfo(self._next, kind, title, source.size, member)
        self._all[self._next] = Layer(info, source, file.archive, file.at)
        self._next += 1
        return self._all[info.layer]
