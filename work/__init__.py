"""The work machine: long work in small items that survives whatever happens to who does it.

It knows no row, no judge and no model. A *kind* of work is two tables and one action:

1. **Two tables.** A subclass of `work.models.Run` (what was started, by whom, on which queue) and one of
   `work.models.Item` with a foreign key `run`, `related_name="items"`. Each gets its `Meta` from `run_constraints` and
   `item_constraints`. Work that is one piece, such as a download, is a run of one item.

       class Fetching(Run):
           study = models.ForeignKey(Study, models.CASCADE, related_name="fetchings")

           class Meta:
               constraints = run_constraints("fetching")

       class Page(Item):
           run = models.ForeignKey(Fetching, models.CASCADE, related_name="items")
           address = models.URLField()

           class Meta:
               constraints = item_constraints("page")
               indexes = item_indexes("page")

2. **An action that does one item.** It gets a `work.actions.Held`: `held.item` and its run. Long steps call
   `held.beat()`, at least every few seconds: the lease is renewed there, and a cancelled run raises there. What cannot
   call it for long, such as the loading of a model, stands in `with held.quiet(longest):`. What was done is written in
   `with held.finishing():`, one transaction that is the item's end as well: both happen, once, or neither.

       def fetch(held: Held[Page]) -> None:
           text = download(held.item.address, on_progress=held.beat)
           with held.finishing():
               store(held.item, text)

   What it raises decides what becomes of the item:

   | raised | meaning | what follows |
   |---|---|---|
   | `ItemFailed` | this item cannot be done | it fails, with the sentence; the others go on |
   | `TryAgain` | a passing fault | tried again after 20 s and 40 s, or what `Kind.waits` says; then it fails |
   | `Away` | nobody is there to ask | the whole run rests 20 s, then 40 s; the third time it fails |
   | `RunFailed` | no item can be done | the run fails, with the sentence; the item goes back |
   | `NotWanted` | the item has become void | it leaves the run |
   | `GiveUp` | the run was cancelled, or the item is another worker's now | it goes back; raised by `Held` itself |
   | `OperationalError`, `InterfaceError` | the database is locked or away | as `TryAgain`, once it answers |
   | any other | a mistake of ours | logged; it fails |

3. **Register the kind**, when the app is loaded (`AppConfig.ready`):

       kinds.register(Kind(Page, fetch, name=lambda page: page.address))

   `Kind` says the rest: order, batch, what is selected with an item, what else is written when one fails or leaves.

Then `work.actions` has `start`, `add` (more items that came up), `cancel`, `resume`, `take_up` (do the next item in
this process), `work.queries` has `progress`, `work.management.in_process` drives a run from a command, `work.api` and
`work.views` have pieces for the API and for pages, `templates/work/` the part of a page that is fetched again and
again. A worker's side (`work.tasks`) is common to all kinds: the queue of a run is a name, such as “cpu” or “gpu”, and
any worker that reads that queue does any kind of work.

Why it is like this: docs/adr/0006-work-machine.md.
"""
