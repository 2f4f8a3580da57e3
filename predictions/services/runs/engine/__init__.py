"""Run engine: asks a model about the calls of a run. One direction: claim -> prepare -> request -> settle -> write.

==========  ==================================================================================================
claim       Reserve pending calls of a run by lease, renew and release them, note that a request goes out.
shared      The budget of a plan set: what each of its runs may spend, noted before requests go out (shared_budget).
prepare     Make the scene and the requests of a call, their keys, and take the replies that are cached.
request     Send requests in threads, under the limit that all workers share. No database.
settle      Decide what follows from each result: attempt, retry, failure, money. No database, no network.
retries     Whether a failed call is asked again, and when. Pure; settle asks it.
write       Save a batch in one transaction: replies, attempts, parsed answers, states of calls.
executor    The loop of one slice of a run. It alone calls all five.
==========  ==================================================================================================

A module imports only modules that stand before it in `IMPORT_ORDER`. An object is changed by the module that defines
its class; `CallTask.add_reply` is called by two modules (a cached reply by prepare, a new one by write).
tests/architecture/test_engine.py holds both rules.

States of a call. Only claim.py and write.py write them; unit_selection.py and the import of answer files create calls.

=============  ============================================  ===========  ==========================================
from           to                                            written by   when
=============  ============================================  ===========  ==========================================
-              pending                                       (created)    a run is opened or extended
pending        running                                       claim        claimed: `holder` and `lease_until` are set
running        running, `asked_at` set                       claim        a priced request is about to be sent
running        running, `asked_at` empty                     write        one of several requests has its reply
running        pending                                       claim        released, or the lease of its holder ended:
                                                                           what went out is stored as a lost attempt
running        pending, `not_before` set                     write        retried (below)
running        answered                                      write        the reply was parsed, the answer is written
running        no_response, refused, unparseable,            write        a reply without an answer
               out_of_range
running        failed                                        write        not retried, or nothing could be asked
pending,       over_budget                                   write        the budget has no room for the next request
running
pending        failed, reason "stopped"                      write        a person stopped the run
answered,      each of the five states with a reply          write        a person has the replies read again
no_response,
refused, ...
failed,        pending, tries counted from 0                 claim        a person retries, or raises the budget
over_budget,
no_response,
refused, ...
=============  ============================================  ===========  ==========================================

What is retried without a person (settle.py):

====================================  ==============================================================================
result of a request                   what follows
====================================  ==============================================================================
429                                   after the time that the server named, else after a backoff; 12 tries
5xx, time-out, broken connection      after 1, 2, 4, ... seconds up to 60, spread by the run's seed; 5 tries
other 4xx                             failed at once
401, 403                              pending again, and the run pauses
a fault of ours, an unreadable image  failed at once
no place at the endpoint in 20 s      pending again, nothing was sent
10 failures in a row                  the run pauses; what was in flight is settled
lost worker                           pending again; what went out is a lost attempt, which takes no try, and is
                                      charged as unaccounted (executor)
====================================  ==============================================================================

Invariants: a reply is committed before the next request of its call is sent; a saved reply is not requested again; a
priced request is sent only after `asked_at` is committed; each transaction first proves that the job and the calls are
still this executor's.
"""

IMPORT_ORDER = (
    "budgets",
    "retries",
    "limiter",
    "reply_parsing",
    "claim",
    "shared_budget",
    "prepare",
    "request",
    "context",
    "settle",
    "write",
    "executor",
)
