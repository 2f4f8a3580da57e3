"""Sending of requests that belong to no run: image plans and, in plugins, whatever else asks endpoints.

=========  ==============================================================================================
requests   What is asked: of a chat model or of an image service; its key, and what is kept with its reply.
prices     What a request costs, and the most it may cost before it is sent.
pool       Threads that send, each within the limit that all workers share for an endpoint. No database.
results    The attempt and the reply with its image, written in the caller's transaction.
=========  ==============================================================================================

The caller has a scope ("image-order:7") under which each attempt is filed, holds its rows by a lease, notes that a
request goes out before it does, and commits its own rows in the transaction of `record_result`. A request that has a
reply is never sent again: a refusal is a reply, too. Runs have an engine of their own (services/runs/engine), which
shares the limit, the retries, the prices and the keys.
"""
