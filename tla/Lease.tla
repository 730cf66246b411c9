------------------------------- MODULE Lease --------------------------------
(******************************************************************************)
(* The read lease of one incarnation I, its member document, one watcher,     *)
(* and time: the section "Reads" of docs/OWNERSHIP.md.  The document is       *)
(* changed by CAS only.                                                       *)
(*                                                                            *)
(* What is simplified                                                         *)
(*  - Clocks are ages: what I's clock has counted since a renewal was sent,   *)
(*    what the watcher's clock has counted since it saw a version.  A tick    *)
(*    adds one pair of Rates to them, <<I's clock, watcher's>>: any pair at   *)
(*    any tick.  Ages stop at the length that matters.                        *)
(*  - Requests land at any time while their base version stands; answers      *)
(*    come at any time after that.  I may have several renewals under way.    *)
(*  - "acked": a new owner has acknowledged a write of one of I's shards.     *)
(*    It may do so at any moment once the document is expired or stopped      *)
(*    (the fence, R3, is in OwnershipLog.tla and guards writes, not reads).   *)
(*  - I answers a read from its memory whenever CanAnswer holds.              *)
(*                                                                            *)
(* Mut, a set of strings, is {} for the protocol as it is; a name is a        *)
(* mutant: one rule broken.                                                   *)
(******************************************************************************)
EXTENDS Naturals, Integers, FiniteSets

CONSTANTS Lengths,  \* lease lengths that a renewal may ask for
          M,        \* margin, taken off I's lease and added to the watch
          Rates,    \* pairs <<a, b>> encoded as 10*a + b
          MaxReq,   \* renewals (and stops) that I sends
          Skew,     \* only for the mutant wallClock
          Mut

VARIABLES doc,      \* [ver, len, st: "live", "expired" or "stopped"]
          pend,     \* I's requests: [id, base, len, age, stop, landed]
          nreq,     \* requests sent
          kv,       \* the version that I knows as its own last one
          lage,     \* age of the renewal that I's lease counts from, by I's clock
          llen,     \* length that I's lease counts with
          serving,  \* I has not stopped
          okc,      \* mutant checkCached: result of an earlier check
          seen,     \* version that the watcher watches, or -1
          slen,     \* the lease length in it
          w,        \* how long by its own clock
          rd,       \* the watcher's read: [pc, ver, len, age]
          ex,       \* base versions of expire CASes under way
          acked     \* a new owner has acknowledged a write

vars == <<doc, pend, nreq, kv, lage, llen, serving, okc, seen, slen, w, rd, ex, acked>>

On(m) == m \in Mut
Cap(a, b) == IF a > b THEN b ELSE a
L == CHOOSE x \in Lengths : \A y \in Lengths : y <= x
Shortest == CHOOSE x \in Lengths : \A y \in Lengths : x <= y
RIdle == [pc |-> "idle", ver |-> 0, len |-> L, age |-> 0]

Init ==
  /\ doc = [ver |-> 0, len |-> L, st |-> "live"]
  /\ pend = {}
  /\ nreq = 0
  /\ kv = 0
  /\ lage = L
  /\ llen = L
  /\ serving = TRUE
  /\ okc = FALSE
  /\ seen = -1
  /\ slen = L
  /\ w = 0
  /\ rd = RIdle
  /\ ex = {}
  /\ acked = FALSE

LeaseHolds == lage < llen - M              \* by I's clock, from the send time
CanAnswer == serving /\ (IF On("checkCached") THEN okc ELSE LeaseHolds)

WatchedLongEnough ==
  /\ seen # -1
  /\ w >= M + (IF On("watchShortest") THEN Shortest ELSE slen)

----------------------------------------------------------------------------
Tick ==
  \E r \in Rates :
    /\ pend' = {[p EXCEPT !.age = Cap(@ + (r \div 10), L)] : p \in pend}
    /\ lage' = Cap(lage + (r \div 10), L)
    /\ w' = Cap(w + (r % 10), L + M)
    /\ rd' = [rd EXCEPT !.age = IF rd.pc = "idle" THEN 0 ELSE Cap(@ + (r % 10), L + M)]
    /\ UNCHANGED <<doc, nreq, kv, llen, serving, okc, seen, slen, ex, acked>>

Request(stops, l) == [id |-> nreq + 1, base |-> kv, len |-> l, age |-> 0, stop |-> stops,
                      landed |-> FALSE]

\* Step RenewLease: I sends a renewal, a CAS from the version that it wrote last.  One
\* that shortens the lease caps it at once: it may land although its answer is lost
\* (mutant capLate).  One that lengthens it counts once it is answered (mutant
\* lengthenEarly).
RenewLease ==
  /\ serving
  /\ nreq < MaxReq
  /\ nreq' = nreq + 1
  /\ \E l \in Lengths :
      /\ pend' = pend \union {Request(FALSE, l)}
      /\ IF \/ l < llen - lage /\ ~On("capLate")
            \/ l > llen - lage /\ On("lengthenEarly")
           THEN lage' = 0 /\ llen' = l
           ELSE UNCHANGED <<lage, llen>>
  /\ UNCHANGED <<doc, kv, serving, okc, seen, slen, w, rd, ex, acked>>

\* It repeats one, identical (R0): the age still counts from the first send.
\* Mutant repeatAge: from the last.
Repeat ==
  /\ On("repeatAge")
  /\ \E p \in pend : pend' = (pend \ {p}) \union {[p EXCEPT !.age = 0]}
  /\ UNCHANGED <<doc, nreq, kv, lage, llen, serving, okc, seen, slen, w, rd, ex, acked>>

\* A clean stop: I serves no more, then says so (mutant stopLate: the other way round)
Stop ==
  /\ serving
  /\ nreq < MaxReq
  /\ nreq' = nreq + 1
  /\ serving' = On("stopLate")
  /\ pend' = pend \union {Request(TRUE, L)}
  /\ UNCHANGED <<doc, kv, lage, llen, okc, seen, slen, w, rd, ex, acked>>

\* A request of I lands, perhaps late; the others on that base are void
Land ==
  \E p \in pend :
    /\ ~p.landed
    /\ p.base = doc.ver
    /\ doc' = [ver |-> doc.ver + 1, len |-> p.len, st |-> IF p.stop THEN "stopped" ELSE "live"]
    /\ pend' = {q \in pend : q.landed} \union (IF p.stop THEN {} ELSE {[p EXCEPT !.landed = TRUE]})
    /\ UNCHANGED <<nreq, kv, lage, llen, serving, okc, seen, slen, w, rd, ex, acked>>

\* I hears, from the answer or from a re-read that shows its own content, that a
\* renewal landed: the lease counts from its send time.
\* Mutant leaseFromAnswer: from now.
Hear ==
  \E p \in pend :
    /\ p.landed
    /\ pend' = pend \ {p}
    /\ kv' = IF p.base + 1 > kv THEN p.base + 1 ELSE kv
    /\ IF On("leaseFromAnswer")
         THEN lage' = 0 /\ llen' = p.len
         ELSE IF p.len - p.age > llen - lage
           THEN lage' = p.age /\ llen' = p.len
           ELSE UNCHANGED <<lage, llen>>
    /\ UNCHANGED <<doc, nreq, serving, okc, seen, slen, w, rd, ex, acked>>

\* Step LoseLease: I finds its document expired and stops.  Mutant revive: it renews
\* from there.
LoseLease ==
  /\ serving
  /\ doc.st = "expired"
  /\ IF On("revive")
       THEN /\ kv' = doc.ver
            /\ UNCHANGED serving
       ELSE /\ serving' = FALSE
            /\ UNCHANGED kv
  /\ UNCHANGED <<doc, pend, nreq, lage, llen, okc, seen, slen, w, rd, ex, acked>>

Check ==
  /\ On("checkCached")
  /\ okc' = LeaseHolds
  /\ UNCHANGED <<doc, pend, nreq, kv, lage, llen, serving, seen, slen, w, rd, ex, acked>>

----------------------------------------------------------------------------
\* The watcher reads the document: request, the moment of the read, answer
ReadSend ==
  /\ rd.pc = "idle"
  /\ rd' = [RIdle EXCEPT !.pc = "sent"]
  /\ UNCHANGED <<doc, pend, nreq, kv, lage, llen, serving, okc, seen, slen, w, ex, acked>>
ReadAt ==
  /\ rd.pc = "sent"
  /\ rd' = [rd EXCEPT !.pc = "read", !.ver = doc.ver, !.len = doc.len]
  /\ UNCHANGED <<doc, pend, nreq, kv, lage, llen, serving, okc, seen, slen, w, ex, acked>>
\* The watch starts at the ANSWER of the first read that shows the version.
\* Mutants: watchFromSend; wallClock: from the time written in the document.
ReadAnswer ==
  /\ rd.pc = "read"
  /\ rd' = RIdle
  /\ seen' = rd.ver
  /\ slen' = rd.len
  /\ w' = IF seen = rd.ver THEN w
          ELSE IF On("watchFromSend") THEN rd.age
          ELSE IF On("wallClock") THEN Skew ELSE 0
  /\ UNCHANGED <<doc, pend, nreq, kv, lage, llen, serving, okc, ex, acked>>

\* Step Expire: unchanged for its lease length + M, so a CAS to expired, from exactly
\* the version watched.  Mutant expireLatest: from the version of a new read.
Expire ==
  /\ WatchedLongEnough
  /\ ex' = ex \union {IF On("expireLatest") THEN doc.ver ELSE seen}
  /\ UNCHANGED <<doc, pend, nreq, kv, lage, llen, serving, okc, seen, slen, w, rd, acked>>
LandExpire ==
  /\ doc.ver \in ex
  /\ doc.st = "live"
  /\ doc' = [doc EXCEPT !.ver = @ + 1, !.st = "expired"]
  /\ ex' = {}
  /\ UNCHANGED <<pend, nreq, kv, lage, llen, serving, okc, seen, slen, w, rd, acked>>

\* R3 and then a write.  Mutant expireNoCas: the watch alone is enough.
AcknowledgeElsewhere ==
  /\ \/ doc.st \in {"expired", "stopped"}
     \/ On("expireNoCas") /\ WatchedLongEnough
  /\ acked' = TRUE
  /\ UNCHANGED <<doc, pend, nreq, kv, lage, llen, serving, okc, seen, slen, w, rd, ex>>

Next == \/ Tick \/ RenewLease \/ Repeat \/ Stop \/ Land \/ Hear \/ LoseLease \/ Check
        \/ ReadSend \/ ReadAt \/ ReadAnswer \/ Expire \/ LandExpire \/ AcknowledgeElsewhere

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------
\* R: I answers no read once another owner has acknowledged a write.  It is
\* enough to check the lease at one moment between the arrival of the read and
\* its answer: a read that arrived before the write was acknowledged may miss it.
R == acked => ~CanAnswer

\* Reached, so each of these must be violated: the model is not vacuous.
NeverAcked == ~(acked /\ doc.st = "expired" /\ serving)
NeverRenewed == ~(kv = 2 /\ CanAnswer)
NeverShortened == ~(kv = 2 /\ CanAnswer /\ llen < L)
=============================================================================
