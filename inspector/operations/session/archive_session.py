"""The session of one open location: its state, and the function that answers each of ArchiveRequests."""

from __future__ import annotations

from inspector.operations.session import (
    changing,
    coverage,
    experimenting,
    extracting,
    following,
    looks,
    navigation,
    reading,
    replaying,
)
from inspector.operations.session import references as links
from inspector.operations.session import remote as costs
from inspector.operations.session.state import SessionState


class ArchiveSession(SessionState):
    """Answers ArchiveRequests. Requests answer at once, except jobs, which take a Progress."""

    # ---- state
    status = reading.status
    layers = reading.layers
    decode = reading.decode
    reload = changing.reload
    disk_change = costs.change_on_disk
    remote = costs.remote
    requests = costs.requests
    cached = costs.cached_bytes
    # ---- bytes and fields
    read = reading.read
    runs = reading.runs
    explain = reading.explain
    field_rows = reading.field_rows
    find_fields = reading.find_fields
    field = reading.field
    overview = looks.layer_overview
    census = looks.layer_census
    verdict_counts = looks.verdict_counts
    verdict_overview = looks.layer_verdicts
    # ---- what bytes look like
    bands = looks.bands
    next_zeros = looks.next_zeros
    next_repeat = looks.next_repeat
    decode_member = looks.decode_member
    decoded_bytes = looks.decoded_bytes
    diagram = looks.diagram
    sizes = looks.sizes
    find_strings = looks.find_strings
    string_rows = looks.string_rows
    # ---- members
    member = reading.member
    member_rows = reading.member_rows
    tree_rows = reading.tree_rows
    chosen = reading.chosen
    place = reading.place
    name_members = reading.name_members
    arrange = reading.arrange
    build_tree = reading.build_tree
    content = reading.content
    # ---- findings
    findings = reading.findings
    damage = reading.damage
    checksums = reading.checksums
    name_causes = reading.name_causes
    check = reading.run_check
    export = reading.export
    write_manifest = reading.write_manifest
    # ---- readers
    readers = following.readers
    compare_readers = following.reader_table
    follow_reader = following.follow_reader
    reader_steps = following.reader_steps
    # ---- navigation
    goto = reading.goto
    find_datapoint = navigation.find_datapoint
    search = reading.find_bytes
    references = links.references
    arrows = links.arrows
    next_unexplained = navigation.next_unexplained
    next_structure = navigation.next_structure
    next_similar = navigation.next_similar
    # ---- the ranges of a collection
    datasets = coverage.datasets
    ranges = coverage.ranges
    range_states = coverage.range_states
    range_place = coverage.range_place
    # ---- extraction
    plan_extraction = extracting.plan_extraction
    extract = extracting.extract
    export_members = extracting.export_chosen
    export_member = extracting.export_one
    # ---- changes
    preview = changing.preview
    repair_checksums = changing.with_checksums
    header = changing.header
    header_edit = changing.header_edit
    header_target = changing.header_target
    upload_preview = changing.upload_preview
    write = changing.write
    append = changing.append
    save_copy = changing.write_copy
    copy_shown = changing.copy_shown
    profiles = changing.list_profiles
    attempt = changing.try_connection
    export_patch = changing.export_patch
    import_patch = changing.import_patch
    # ---- repairs
    interrupted = changing.interrupted_change
    recover = changing.settle_interrupted
    take_back = changing.undo_last_write
    past_writes = changing.list_past_writes
    edits_before = changing.states_before
    forget_past_writes = changing.forget_old_bytes
    plan_repairs = changing.plan_repairs
    make_repairs = changing.make_repairs
    salvage = changing.salvage
    # ---- experiments
    show_experiment = experimenting.show_experiment
    damage_step = experimenting.damage_step
    content_of_file = experimenting.content_of_file
    step_text = experimenting.step_text
    parse_step = experimenting.parse_step
    save_experiment = experimenting.save_experiment
    save_recipe = experimenting.save_recipe
    save_experiment_patch = experimenting.save_experiment_patch
    open_recipe = experimenting.open_recipe
    # ---- replays
    show_replay = replaying.show_replay
    crash_matrix = replaying.crash_matrix
    save_replay = replaying.save_replay
