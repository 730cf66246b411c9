---------------------------- MODULE OwnershipLog ----------------------------
(******************************************************************************)
(* Who owns a shard's records, over an object store that answers late or      *)
(* never: a pipelined log per incarnation, flush, trim, fence, takeover,      *)
(* handoff, collection of logs.  Rules are named as in docs/OWNERSHIP.md.     *)
(* Shards are fixed names here; Topology.tla has split and merge.             *)
(*                                                                            *)
(* An action has the name of the step (core/base/step.hpp) that it is; the    *)
(* store's part is called Land..., but for Publish, the landing of a          *)
(* topology CAS.  tla/README.md lists them.                                   *)
(*                                                                            *)
(* What is simplified                                                         *)
(*  - A batch holds one record [sh, off].  So Append is a part of PutLog.     *)
(*  - Any PUT ever sent may land at any time, and again after a delete        *)
(*    (time-outs, retries, zombies).  A batch counts as acknowledged as       *)
(*    soon as it and all lower ones have landed: the worst case for D.        *)
(*    So Acknowledge is no action but the definition Acked.                   *)
(*  - No incarnation ever stops by itself, not even a fenced one: each is a   *)
(*    zombie for ever.  So there is no Fenced.                                *)
(*  - CASes of manifests and of the topology are requests that land later     *)
(*    or never.  One whose base version has passed is dropped.                *)
(*  - A table is the set of the records <<inc, seq>> in it.  Topology.tla     *)
(*    collects tables.                                                        *)
(*                                                                            *)
(* Mut, a set of strings, is {} for the protocol as it is.  "d_..." are       *)
(* readings of early drafts that looked right, other names are mutants: one   *)
(* rule broken.  "v_..." must hold: v_trimSteps trims in steps.               *)
(******************************************************************************)
EXTENDS Naturals, Integers, FiniteSets, Sequences, TLC

CONSTANTS Incs,      \* incarnations, e.g. {1,2,3}
          Shards,    \* shards, {1} or {1,2}
          Own1,      \* first owner of shard 1
          Own2,      \* first owner of shard 2
          W,         \* pipelining window
          Keep,      \* R7: trim leaves the last Keep objects; W are enough
          MaxSeq,    \* at most MaxSeq batches per incarnation
          MaxRec,    \* at most MaxRec batches in all
          MaxTake, MaxHand, MaxFlush, MaxGC,   \* bounds on actions
          MaxFence,  \* fences by a collector, and clean stops (R8)
          MaxReopen,
          Takers,    \* incarnations that may take over
          Dup,       \* TRUE: a PUT may land again after a delete
          Mut        \* what is broken, see above

VARIABLES sent,    \* sent[i]: sequence of records, index s+1 holds batch s
          obj,     \* obj[i][s]: "none", "data" or "fence" (object log/i/s)
          landed,  \* landed[i]: batches that have landed at least once
          topo,    \* [ver, sh -> [ep, owner, key]]
          man,     \* manifests by key: [ver, sealed, sst, logs]
          own,     \* own[i][sh]: manifest key that i serves sh from, or 0
          msgs,    \* CAS requests that can still land
          tk,      \* tk[j]: takeover in progress at j
          gc,      \* the garbage collector
          hs,      \* hs[i]: handoff under way at its giver i (R4)
          prom,    \* answers to asks, each with its pin at the receiver that gave it (R4)
          tr,      \* tr[i]: trim in steps (v_trimSteps)
          stop,    \* incarnations that stopped cleanly (R8)
          cnt      \* counters, for the bounds

vars == <<sent, obj, landed, topo, man, own, msgs, tk, gc, hs, prom, tr, stop, cnt>>
hvars == <<hs, prom, tr, stop>>

Open == 99
Seqs == 0..MaxSeq
On(m) == m \in Mut
Max0(a, b) == IF a > b THEN a ELSE b
MinOf(S) == CHOOSE x \in S : \A y \in S : x <= y
MaxOf(S) == CHOOSE x \in S : \A y \in S : x >= y

InitOwner(sh) == IF sh = 1 THEN Own1 ELSE Own2
Idle == [pc |-> "idle", inc |-> 0, f |-> 0, v |-> 0, only |-> FALSE, rows |-> {}, todo |-> {},
         q |-> 0]
HIdle == [pc |-> "idle", x |-> 0, j |-> 0, v |-> 0, key |-> 0, a |-> 0]
TIdle == [pc |-> "idle", b |-> 0, keys |-> {}]
GIdle == [pc |-> "idle", inc |-> 0, keys |-> {}, named |-> {}, f |-> 0]
Dead == [ver |-> 0, sealed |-> TRUE, sst |-> {}, logs |-> {}]

Init ==
  /\ sent = [i \in Incs |-> << >>]
  /\ obj = [i \in Incs |-> [s \in Seqs |-> "none"]]
  /\ landed = [i \in Incs |-> {}]
  /\ topo = [ver |-> 0, sh |-> [x \in Shards |->
                [ep |-> 0, owner |-> InitOwner(x), key |-> x]]]
  /\ man = [k \in 1..Cardinality(Shards) |->
              [ver |-> 0, sealed |-> FALSE, sst |-> {},
               logs |-> {[inc |-> InitOwner(k), from |-> 0, to |-> Open]}]]
  /\ own = [i \in Incs |-> [x \in Shards |-> IF InitOwner(x) = i THEN x ELSE 0]]
  /\ msgs = {}
  /\ tk = [j \in Incs |-> Idle]
  /\ gc = GIdle
  /\ hs = [i \in Incs |-> HIdle]
  /\ prom = {}
  /\ tr = [i \in Incs |-> TIdle]
  /\ stop = {}
  /\ cnt = [take |-> 0, hand |-> 0, flush |-> 0, gcs |-> 0, fence |-> 0, reopen |-> 0]

----------------------------------------------------------------------------
\* Derived values

Next1(i) == Len(sent[i])                          \* next seq never sent
CPos(i) == MinOf({s \in 0..Len(sent[i]) : s \notin landed[i]})
Acked(i) == IF On("ackOutOfOrder") THEN landed[i] ELSE 0..(CPos(i) - 1)
RecAt(i, s) == sent[i][s + 1]
InRange(e, s) == e.from <= s /\ s < e.to
Exists(i) == {s \in Seqs : obj[i][s] # "none"}     \* what a LIST shows

\* records <<inc, seq>> of shard x in the log entries of manifest m
LogRecs(m, x) == {r \in {<<e.inc, s>> : e \in m.logs, s \in 0..(MaxSeq - 1)} :
                    /\ r[2] < Len(sent[r[1]])
                    /\ RecAt(r[1], r[2]).sh = x
                    /\ \E e \in m.logs : e.inc = r[1] /\ InRange(e, r[2])}

\* R3a: the place for the fence, from one LIST.
\* The lowest seq not below (highest object - W + 1) that is absent or a FENCE.
TailPos(i) == IF Exists(i) = {} THEN 0
              ELSE LET M == MaxOf(Exists(i)) IN
                   MinOf({s \in Max0(0, M - W + 1)..(M + 1) :
                            IF s > MaxSeq THEN TRUE ELSE obj[i][s] # "data"})
\* d_firstGap: the first missing seq (or FENCE) after the lowest existing object
FirstGap(i) == IF Exists(i) = {} THEN 0
               ELSE MinOf({s \in MinOf(Exists(i))..(MaxSeq + 1) :
                            IF s > MaxSeq THEN TRUE ELSE obj[i][s] # "data"})
\* R3a: a FENCE at f counts if nothing lies beyond the window and no other FENCE
\* lies above it.
NoneBeyond(i, f) == \A s \in Exists(i) :
                      /\ s <= f + W - 1
                      /\ s > f /\ obj[i][s] = "fence" => On("d_anyFence")
Valid(i, f) == /\ obj[i][f] = "fence"
               /\ (On("noSecondList") \/ NoneBeyond(i, f))
Good(i) == {f \in Seqs : obj[i][f] = "fence" /\ NoneBeyond(i, f)}
FencePos(i) == {s \in (IF On("d_firstGap") THEN {TailPos(i), FirstGap(i)}
                       ELSE IF On("d_anyFence") \/ Good(i) = {} THEN {TailPos(i)}
                       ELSE Good(i)) : s <= MaxSeq}

\* i has sent a topology CAS for shard x that can still land
Unresolved(i, x) == \E g \in msgs : g.kind = "topo" /\ g.by = i /\ \E a \in g.add : a.sh = x

\* Close the open entries of i at f; an empty range is dropped
CloseAt(logs, i, f) ==
  {e \in {IF e1.inc = i /\ e1.to = Open THEN [e1 EXCEPT !.to = f] ELSE e1 : e1 \in logs} :
      e.from < e.to}

----------------------------------------------------------------------------
\* Step PutLog (R1): an owner sends a record in its next batch.  The window is a
\* span: seq n is sent only after n-W has landed.
PutLog(i, x) ==
  /\ own[i][x] # 0
  /\ i \notin stop
  /\ Len(sent[i]) < MaxSeq
  /\ MaxRec > Cardinality({<<j, s>> \in Incs \X Seqs : s < Len(sent[j])})
  /\ IF On("windowByCount")
       THEN Cardinality((0..(Len(sent[i]) - 1)) \ landed[i]) < W
       ELSE Len(sent[i]) - CPos(i) < W
  /\ LET m == man[own[i][x]]
         known == m.sst \union LogRecs(m, x) \union
                  {<<i, s>> : s \in {t \in 0..(Len(sent[i]) - 1) :
                       /\ RecAt(i, t).sh = x
                       /\ \E e \in m.logs : e.inc = i /\ e.to = Open}}
         offs == {RecAt(r[1], r[2]).off : r \in known}
         off == IF offs = {} THEN 1 ELSE 1 + MaxOf(offs)
     IN sent' = [sent EXCEPT ![i] = Append(@, [sh |-> x, off |-> off])]
  /\ UNCHANGED <<obj, landed, topo, man, own, msgs, tk, gc, cnt, hvars>>

\* R1, R9: a PUT lands, at any time, if the object is absent
LandLog(i, s) ==
  /\ s < Len(sent[i])
  /\ obj[i][s] = "none"
  /\ Dup \/ s \notin landed[i]
  /\ obj' = [obj EXCEPT ![i][s] = "data"]
  /\ landed' = [landed EXCEPT ![i] = @ \union {s}]
  /\ UNCHANGED <<sent, topo, man, own, msgs, tk, gc, cnt, hvars>>

----------------------------------------------------------------------------
\* Step Flush (R2): a table of all up to the acknowledged position; the manifest
\* CAS is sent
Flush(i, x) ==
  /\ cnt.flush < MaxFlush
  /\ own[i][x] # 0
  /\ i \notin stop
  /\ LET k == own[i][x]
         m == man[k]
         c == CPos(i)
         mine == {e \in m.logs : e.inc = i /\ e.to = Open}
         done == {r \in LogRecs(m, x) : ~(r[1] = i /\ \E e \in mine : e.from <= r[2] /\ r[2] >= c)}
         logs2 == {[inc |-> i, from |-> c, to |-> Open]}
     IN /\ ~m.sealed
        /\ mine # {}
        /\ m.logs # logs2
        /\ msgs' = msgs \union {[kind |-> "man", by |-> i, key |-> k, base |-> m.ver,
                                 sh |-> x, sst |-> m.sst \union done, logs |-> logs2]}
  /\ cnt' = [cnt EXCEPT !.flush = @ + 1]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, tk, gc, hvars>>

\* It lands
LandManifest ==
  \E g \in msgs :
    /\ g.kind = "man"
    /\ man[g.key].ver = g.base
    /\ ~man[g.key].sealed
    /\ man' = [man EXCEPT ![g.key] = [ver |-> g.base + 1, sealed |-> FALSE,
                                      sst |-> g.sst, logs |-> g.logs]]
    /\ msgs' = {h \in msgs : ~(h.kind = "man" /\ h.key = g.key)}
    /\ UNCHANGED <<sent, obj, landed, topo, own, tk, gc, cnt, hvars>>

----------------------------------------------------------------------------
\* Step Trim (R7): the own log, ascending, below every use of it.  Pins: entries in
\* own unresolved requests, and positions promised to an attempt (R4) whose base
\* version the topology has not passed
MsgLogs(g) == IF g.kind = "man" THEN g.logs ELSE UNION {man[a.key].logs : a \in g.add}
PinFroms(i) ==
  (IF On("d_noPin") THEN {}
   ELSE {e.from : e \in {e1 \in UNION {MsgLogs(g) : g \in {h \in msgs : h.by = i}} : e1.inc = i}})
  \union {r.q : r \in {r1 \in prom : r1.by = i /\ r1.pin /\ r1.v >= topo.ver}}
ViewKeys(i) == {own[i][x] : x \in {y \in Shards : own[i][y] # 0}}
TopoKeys == {topo.sh[x].key : x \in Shards}
FromsIn(ks, i) == {e.from : e \in {e1 \in UNION {man[k].logs : k \in ks} : e1.inc = i}}

TrimBound(i) ==
  LET flushing == {g \in msgs : g.kind = "man" /\ g.by = i /\ g.key \in ViewKeys(i)}
      early == UNION {g.logs : g \in flushing}
      \* mutant: the flush position counts before the CAS has succeeded
      froms == IF On("trimEarly") /\ flushing # {}
                 THEN {e.from : e \in {e1 \in early : e1.inc = i}} \union
                      FromsIn((ViewKeys(i) \union TopoKeys) \ {g.key : g \in flushing}, i)
                 ELSE FromsIn(ViewKeys(i) \union TopoKeys, i) \union PinFroms(i)
  IN IF froms = {} THEN CPos(i) ELSE MinOf(froms)

TrimOne(i, b) ==
  /\ LET data == {s \in Seqs : obj[i][s] = "data"}
     IN /\ data # {}
        /\ LET s == MinOf(data) IN
             /\ s < b
             /\ s < CPos(i)
             /\ Cardinality({t \in landed[i] : t > s}) >= Keep
             /\ obj' = [obj EXCEPT ![i][s] = "none"]

Trim(i) ==
  /\ ~On("v_trimSteps")
  /\ i \notin stop
  /\ TrimOne(i, TrimBound(i))
  /\ UNCHANGED <<sent, landed, topo, man, own, msgs, tk, gc, cnt, hvars>>

\* Step Trim in steps: first the acknowledged position and the pins, then the
\* topology, then the manifests, then deletes, however late.
\* Mutants: trimPinsLast takes both last, trimNoCap the position.
Min2(a, b) == IF a < b THEN a ELSE b
PinBound(i) == MinOf({MaxSeq} \union PinFroms(i))
TrimNote(i) ==
  /\ On("v_trimSteps")
  /\ i \notin stop
  /\ tr[i].pc = "idle"
  /\ CPos(i) > 0 \/ On("trimNoCap")
  /\ tr' = [tr EXCEPT ![i] = [pc |-> "pins", keys |-> {},
              b |-> IF On("trimPinsLast") THEN MaxSeq
                    ELSE IF On("trimNoCap") THEN PinBound(i)
                    ELSE Min2(CPos(i), PinBound(i))]]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, gc, cnt, hs, prom, stop>>
TrimReadTopology(i) ==
  /\ tr[i].pc = "pins"
  /\ tr' = [tr EXCEPT ![i].pc = "topo", ![i].keys = TopoKeys \union ViewKeys(i)]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, gc, cnt, hs, prom, stop>>
TrimReadManifests(i) ==
  /\ tr[i].pc = "topo"
  /\ tr' = [tr EXCEPT ![i].pc = "del", ![i].keys = {},
              ![i].b = MinOf({@, IF On("trimPinsLast") THEN Min2(CPos(i), PinBound(i))
                                 ELSE IF On("trimNoCap") THEN CPos(i) ELSE @}
                             \union FromsIn(tr[i].keys, i))]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, gc, cnt, hs, prom, stop>>
TrimDelete(i) ==
  /\ tr[i].pc = "del"
  /\ TrimOne(i, tr[i].b)
  /\ UNCHANGED <<sent, landed, topo, man, own, msgs, tk, gc, cnt, hs, prom, tr, stop>>
TrimEnd(i) ==
  /\ tr[i].pc = "del"
  /\ tr' = [tr EXCEPT ![i] = TIdle]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, gc, cnt, hs, prom, stop>>

----------------------------------------------------------------------------
\* R3: takeover by j of one or several shards of incarnation i.  First the LIST, and
\* where to fence.  Variant sealFirst: it seals them before it fences.
OwnedBy(i) == {x \in Shards : topo.sh[x].owner = i}
RowsOf(S) == {[sh |-> x, key |-> topo.sh[x].key] : x \in S}
TakeOver(j, i) ==
  /\ tk[j].pc = "idle"
  /\ j \notin stop
  /\ cnt.take < MaxTake
  /\ i # j
  /\ \E x \in OwnedBy(i) : own[j][x] = 0
  /\ cnt' = [cnt EXCEPT !.take = @ + 1]
  /\ \E f \in FencePos(i) :
     \E S \in (IF On("sealFirst") THEN (SUBSET OwnedBy(i)) \ {{}} ELSE {{}}) :
        /\ tk' = [tk EXCEPT ![j] = [Idle EXCEPT !.pc = "put", !.inc = i, !.f = f,
                                                !.rows = RowsOf(S)]]
        /\ man' = [k \in DOMAIN man |-> IF \E r \in RowsOf(S) : r.key = k
                                     THEN [man[k] EXCEPT !.sealed = TRUE, !.ver = @ + 1]
                                     ELSE man[k]]
  /\ UNCHANGED <<sent, obj, landed, topo, own, msgs, gc, hvars>>

\* R8: a collector fences an incarnation that is over (here: any), even one that
\* owns nothing.  It uses j's tk for the steps of R3a.
CollectorFence(j, i) ==
  /\ tk[j].pc = "idle"
  /\ cnt.fence < MaxFence
  /\ i # j
  /\ Len(sent[i]) > 0
  /\ cnt' = [cnt EXCEPT !.fence = @ + 1]
  /\ \E f \in FencePos(i) :
        tk' = [tk EXCEPT ![j] = [Idle EXCEPT !.pc = "put", !.inc = i, !.f = f, !.only = TRUE]]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, gc, hvars>>

\* R8: a clean stop writes its own FENCE as the last log object, after all of
\* its batches have landed (mutant stopNoWait); it may land late.
Stop(i) ==
  /\ cnt.fence < MaxFence
  /\ i \notin stop
  /\ Len(sent[i]) > 0
  /\ CPos(i) = Len(sent[i]) \/ On("stopNoWait")
  /\ stop' = stop \union {i}
  /\ own' = [own EXCEPT ![i] = [x \in Shards |-> 0]]
  /\ hs' = [hs EXCEPT ![i] = HIdle]
  /\ cnt' = [cnt EXCEPT !.fence = @ + 1]
  /\ UNCHANGED <<sent, obj, landed, topo, man, msgs, tk, gc, prom, tr>>
LandStopFence(i) ==
  /\ i \in stop
  /\ obj[i][Len(sent[i])] = "none"
  /\ obj' = [obj EXCEPT ![i][Len(sent[i])] = "fence"]
  /\ UNCHANGED <<sent, landed, topo, man, own, msgs, tk, gc, cnt, hvars>>

\* R3a again after a stray fence or a 412
FenceAgain(j) ==
  /\ tk[j].pc = "list"
  /\ \E f \in FencePos(tk[j].inc) : tk' = [tk EXCEPT ![j].pc = "put", ![j].f = f]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, gc, cnt, hvars>>

\* R3a: put-if-absent FENCE at f (it may have been under way for long)
FencePut(j) ==
  /\ tk[j].pc = "put"
  /\ LET i == tk[j].inc
         f == tk[j].f IN
     IF obj[i][f] = "data"
       THEN /\ tk' = [tk EXCEPT ![j].pc = "list", ![j].f = 0]
            /\ UNCHANGED obj
       ELSE /\ obj' = [obj EXCEPT ![i][f] = "fence"]
            /\ tk' = [tk EXCEPT ![j].pc = "chk"]
  /\ UNCHANGED <<sent, landed, topo, man, own, msgs, gc, cnt, hvars>>

\* Step Fence (R3a): the second LIST says whether the fence counts
Fence(j) ==
  /\ tk[j].pc = "chk"
  /\ IF Valid(tk[j].inc, tk[j].f)
       THEN tk' = [tk EXCEPT ![j] = IF tk[j].only THEN Idle ELSE [@ EXCEPT !.pc = "fenced"]]
       ELSE tk' = [tk EXCEPT ![j].pc = "list", ![j].f = 0]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, gc, cnt, hvars>>

\* R3c: the position q of the own entry: the next never-sent seq, taken only after
\* the topology version was read that the CAS is based on
OwnFrom(j) ==
  IF On("ownTooHigh") THEN {Next1(j) + 1}
  ELSE IF On("ownTooLow") THEN {0}
  ELSE IF On("d_posAcked") THEN Max0(0, Next1(j) - W)..CPos(j)   \* acked as far as j has heard
  ELSE {Next1(j)}

\* R3b: read the topology at version v, choose shards that still belong to i
TakeRead(j) ==
  /\ tk[j].pc = "fenced"
  /\ j \notin stop
  /\ LET i == tk[j].inc IN
     IF OwnedBy(i) = {} \/ (On("sealFirst") /\ ~(tk[j].rows \subseteq RowsOf(OwnedBy(i))))
       THEN tk' = [tk EXCEPT ![j] = Idle]
       ELSE \E S \in (IF On("sealFirst") THEN {{r.sh : r \in tk[j].rows}}
                      ELSE (SUBSET OwnedBy(i)) \ {{}}) :
            tk' = [tk EXCEPT ![j].pc = "seal", ![j].v = topo.ver, ![j].rows = RowsOf(S),
                             ![j].q = IF On("qBeforePin") THEN Next1(j) ELSE 0,
                             ![j].todo = IF On("noSeal") \/ On("sealFirst") THEN {}
                                         ELSE IF On("sealOne") THEN {MinOf(S)} ELSE S]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, gc, cnt, hvars>>

\* Step Seal (R3b): each of them by its own CAS
Seal(j) ==
  /\ tk[j].pc = "seal"
  /\ tk[j].todo # {}
  /\ LET x == MinOf(tk[j].todo)
         k == (CHOOSE r \in tk[j].rows : r.sh = x).key
     IN /\ man' = [man EXCEPT ![k].sealed = TRUE, ![k].ver = @ + 1]
        /\ msgs' = {h \in msgs : ~(h.kind = "man" /\ h.key = k)}
        /\ tk' = [tk EXCEPT ![j].todo = @ \ {x}]
  /\ UNCHANGED <<sent, obj, landed, topo, own, gc, cnt, hvars>>

\* Step Adopt (R3c) for each shard, and the request of R3d: one topology CAS on
\* version v for all of them.  Mutant takeRebase: on the version of a later read.
Adopt(j) ==
  /\ tk[j].pc = "seal"
  /\ tk[j].todo = {}
  /\ IF topo.ver # tk[j].v /\ ~On("takeRebase")
       THEN /\ tk' = [tk EXCEPT ![j] = [Idle EXCEPT
                        !.pc = "fenced", !.inc = tk[j].inc, !.f = tk[j].f,
                        !.rows = IF On("sealFirst") THEN tk[j].rows ELSE {}]]
            /\ UNCHANGED <<man, msgs>>
       ELSE \E q \in (IF On("qBeforePin") THEN {tk[j].q} ELSE OwnFrom(j)) :
            LET rows == tk[j].rows
                i == tk[j].inc
                Nth(x) == Len(man) + Cardinality({r \in rows : r.sh <= x})
                NewMan(k) == [ver |-> 0, sealed |-> FALSE, sst |-> man[k].sst,
                              logs |-> CloseAt(man[k].logs, i, tk[j].f)
                                       \union {[inc |-> j, from |-> q, to |-> Open]}]
            IN /\ tk' = [tk EXCEPT ![j] = Idle]
               /\ man' = man \o [n \in 1..Cardinality(rows) |->
                             NewMan((CHOOSE r \in rows : Nth(r.sh) = Len(man) + n).key)]
               /\ msgs' = msgs \union {[kind |-> "topo", by |-> j, base |-> topo.ver,
                             add |-> {[sh |-> r.sh, key |-> Nth(r.sh), ep |-> topo.sh[r.sh].ep + 1,
                                       owner |-> j] : r \in rows}]}
  /\ UNCHANGED <<sent, obj, landed, topo, own, gc, cnt, hvars>>

\* Step Publish (R3d, R4, R5): a topology CAS lands; all other requests on that
\* version are void
Publish ==
  \E g \in msgs :
    /\ g.kind = "topo"
    /\ (g.base = topo.ver \/ On("noTopoCheck"))
    /\ topo' = [ver |-> topo.ver + 1,
                sh |-> [x \in Shards |->
                  IF \E a \in g.add : a.sh = x
                    THEN LET a == CHOOSE b \in g.add : b.sh = x IN
                         [ep |-> a.ep, owner |-> a.owner, key |-> a.key]
                    ELSE topo.sh[x]]]
    /\ prom' = IF On("handRebase") \/ On("noTopoCheck") THEN prom ELSE {}
    /\ IF On("noTopoCheck")
         THEN /\ msgs' = msgs \ {g}
              /\ UNCHANGED man
         ELSE /\ msgs' = {h \in msgs : h.kind # "topo"}
              /\ man' = [k \in DOMAIN man |->
                           IF \E h \in msgs : h.kind = "topo" /\ h # g /\ \E a \in h.add : a.key = k
                             THEN Dead ELSE man[k]]
    /\ UNCHANGED <<sent, obj, landed, own, tk, gc, cnt, hs, tr, stop>>

\* Step Replay (R3e, R4): j reads the topology, sees that it owns x, replays and
\* serves.  An owner that stopped serving x for a handoff serves it again only after
\* the attempt's CAS is resolved (mutant resumeEarly) and if the topology still
\* names its manifest (mutant resumeNoCompare, below).
Replay(j, x) ==
  /\ topo.sh[x].owner = j
  /\ j \notin stop
  /\ ~(hs[j].pc = "stopped" /\ hs[j].x = x)
  /\ On("resumeEarly") \/ ~Unresolved(j, x)
  /\ own[j][x] # topo.sh[x].key
  /\ \E e \in man[topo.sh[x].key].logs : e.inc = j /\ e.to = Open
  /\ own' = [own EXCEPT ![j][x] = topo.sh[x].key]
  /\ UNCHANGED <<sent, obj, landed, topo, man, msgs, tk, gc, cnt, hvars>>

----------------------------------------------------------------------------
\* R4: handoff of x by its owner i to j.
\* (1) i reads the topology at v and asks j
HandAsk(i, x, j) ==
  /\ cnt.hand < MaxHand
  /\ i # j
  /\ hs[i].pc = "idle"
  /\ own[i][x] # 0
  /\ topo.sh[x].owner = i
  /\ topo.sh[x].key = own[i][x]
  /\ ~Unresolved(i, x)
  /\ hs' = [hs EXCEPT ![i] = [pc |-> "asked", x |-> x, j |-> j, v |-> topo.ver,
                              key |-> own[i][x], a |-> cnt.hand + 1]]
  /\ cnt' = [cnt EXCEPT !.hand = @ + 1]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, gc, prom, tr, stop>>

\* Step Accept (R4): (1) j answers, now or late, with its next never-sent seq, and
\* pins it for the attempt.  A repeated ask of an attempt gets the same answer (mutant askAgain:
\* a new one, whose pin replaces the old one).  Mutant noPromise: no pin.
Accept(i) ==
  LET j == hs[i].j IN
  /\ hs[i].pc # "idle"
  /\ j \notin stop
  /\ On("askAgain") \/ ~(\E r \in prom : r.a = hs[i].a)
  /\ \E q \in OwnFrom(j) :
       prom' = {IF r.a = hs[i].a THEN [r EXCEPT !.pin = FALSE] ELSE r : r \in prom}
               \union {[a |-> hs[i].a, by |-> j, q |-> q, v |-> hs[i].v, pin |-> ~On("noPromise")]}
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, gc, cnt, hs, tr, stop>>

\* Step Seal (R4): (2) i seals m, its entry stays open, and goes on appending
HandSeal(i) ==
  /\ hs[i].pc = "asked"
  /\ hs' = [hs EXCEPT ![i].pc = "sealed"]
  /\ LET k == hs[i].key IN
     IF On("handNoSeal")
       THEN UNCHANGED <<man, msgs>>
       ELSE /\ man' = [man EXCEPT ![k].sealed = TRUE,
                                     ![k].ver = IF man[k].sealed THEN @ ELSE @ + 1]
            /\ msgs' = {h \in msgs : ~(h.kind = "man" /\ h.key = k)}
  /\ UNCHANGED <<sent, obj, landed, topo, own, tk, gc, cnt, prom, tr, stop>>

\* (3) i stops serving x
HandStop(i) ==
  /\ hs[i].pc = "sealed"
  /\ own[i][hs[i].x] = hs[i].key
  /\ hs' = [hs EXCEPT ![i].pc = "stopped"]
  /\ own' = [own EXCEPT ![i][hs[i].x] = IF On("handNoStop") THEN @ ELSE 0]
  /\ UNCHANGED <<sent, obj, landed, topo, man, msgs, tk, gc, cnt, prom, tr, stop>>

\* Step HandOff (R4): (3, 4) all sent records of x lie below p: put m', CAS the
\* topology on v, the version that the ask named (mutant handRebase: on the version of a later read)
HandOff(i) ==
  LET x == hs[i].x
      k == hs[i].key IN
  /\ hs[i].pc = "stopped"
  /\ IF On("handRebase") THEN topo.sh[x].owner = i /\ topo.sh[x].key = k ELSE topo.ver = hs[i].v
  /\ \A s \in 0..(Len(sent[i]) - 1) : RecAt(i, s).sh = x => (s < CPos(i) \/ On("handNoWait"))
  /\ \E r \in prom :
     /\ r.a = hs[i].a
     /\ man' = Append(man, [ver |-> 0, sealed |-> FALSE, sst |-> man[k].sst,
                            logs |-> CloseAt(man[k].logs, i, CPos(i))
                                     \union {[inc |-> hs[i].j, from |-> r.q, to |-> Open]}])
     /\ msgs' = msgs \union {[kind |-> "topo", by |-> i, base |-> topo.ver,
                  add |-> {[sh |-> x, key |-> Len(man) + 1, ep |-> topo.sh[x].ep + 1,
                            owner |-> hs[i].j]}]}
  /\ hs' = [hs EXCEPT ![i] = IF On("resumeNoCompare") THEN [@ EXCEPT !.pc = "sent"] ELSE HIdle]
  /\ UNCHANGED <<sent, obj, landed, topo, own, tk, gc, cnt, prom, tr, stop>>

\* (4) no answer, or the version has moved: i gives the attempt up; Replay lets it
\* serve again, Reopen gives it an unsealed manifest
HandAbort(i) ==
  /\ hs[i].pc \in {"asked", "sealed", "stopped"}
  /\ hs' = [hs EXCEPT ![i] = HIdle]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, gc, cnt, prom, tr, stop>>

\* mutant: a 412 is taken as a failure without a look at what the topology names
HandResume(i) ==
  /\ hs[i].pc = "sent"
  /\ topo.ver > hs[i].v
  /\ own' = [own EXCEPT ![i][hs[i].x] = hs[i].key]
  /\ hs' = [hs EXCEPT ![i] = HIdle]
  /\ UNCHANGED <<sent, obj, landed, topo, man, msgs, tk, gc, cnt, prom, tr, stop>>

\* Step Reopen (R5): an owner whose named manifest is sealed replaces it by an
\* unsealed copy; not while its own CAS for the shard is unresolved
Reopen(i, x) ==
  /\ cnt.reopen < MaxReopen
  /\ i \notin stop
  /\ topo.sh[x].owner = i
  /\ man[topo.sh[x].key].sealed
  /\ hs[i].pc = "idle" \/ hs[i].x # x
  /\ ~Unresolved(i, x)
  /\ man' = Append(man, [man[topo.sh[x].key] EXCEPT !.sealed = FALSE, !.ver = 0])
  /\ msgs' = msgs \union {[kind |-> "topo", by |-> i, base |-> topo.ver,
                 add |-> {[sh |-> x, key |-> Len(man) + 1, ep |-> topo.sh[x].ep + 1, owner |-> i]}]}
  /\ cnt' = [cnt EXCEPT !.reopen = @ + 1]
  /\ UNCHANGED <<sent, obj, landed, topo, own, tk, gc, hvars>>

----------------------------------------------------------------------------
\* Step Collect (R8).  In this order: judge the fence, read the topology, read the
\* manifests, delete; only of an incarnation that owns no shard; never a FENCE.
JudgedFences(i) == {f \in Seqs : Valid(i, f)}
Owns(i) == \E x \in Shards : topo.sh[x].owner = i

CollectJudge(i) ==
  /\ gc.pc = "idle"
  /\ cnt.gcs < MaxGC
  /\ cnt' = [cnt EXCEPT !.gcs = @ + 1]
  /\ IF On("d_gcOrder")
       THEN /\ (On("d_gcOwner") \/ ~Owns(i))
            /\ gc' = [pc |-> "topo", inc |-> i, named |-> {}, f |-> 0,
                      keys |-> {topo.sh[x].key : x \in Shards}]
       ELSE \E f \in JudgedFences(i) :
            gc' = [pc |-> "judged", inc |-> i, named |-> {}, f |-> f, keys |-> {}]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, hvars>>

CollectReadTopology ==
  /\ gc.pc = "judged"
  /\ (On("d_gcOwner") \/ ~Owns(gc.inc))
  /\ gc' = [gc EXCEPT !.pc = "topo", !.keys = {topo.sh[x].key : x \in Shards}]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, cnt, hvars>>

CollectReadManifests ==
  /\ gc.pc = "topo"
  /\ LET es == {e \in UNION {man[k].logs : k \in gc.keys} : e.inc = gc.inc}
     IN gc' = [gc EXCEPT !.pc = "del", !.keys = {},
                         !.named = {s \in Seqs : \E e \in es : InRange(e, s)}]
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, cnt, hvars>>

Collect(s) ==
  /\ gc.pc = "del"
  /\ s \notin gc.named
  /\ obj[gc.inc][s] # "none"
  /\ (On("d_gcOrder") => JudgedFences(gc.inc) # {})
  /\ IF obj[gc.inc][s] = "fence"
       THEN \/ On("gcFence")
            \/ On("d_gcOneFence") /\ (IF On("d_gcOrder") THEN \E f \in JudgedFences(gc.inc) : f # s
                                                         ELSE gc.f # s)
       ELSE TRUE
  /\ obj' = [obj EXCEPT ![gc.inc][s] = "none"]
  /\ UNCHANGED <<sent, landed, topo, man, own, msgs, tk, gc, cnt, hvars>>

CollectEnd ==
  /\ gc.pc # "idle"
  /\ cnt.gcs < MaxGC
  /\ gc' = GIdle
  /\ UNCHANGED <<sent, obj, landed, topo, man, own, msgs, tk, cnt, hvars>>

----------------------------------------------------------------------------
Next ==
  \/ \E i \in Incs, x \in Shards : PutLog(i, x)
  \/ \E i \in Incs, s \in Seqs : LandLog(i, s)
  \/ \E i \in Incs, x \in Shards : Flush(i, x)
  \/ LandManifest
  \/ \E i \in Incs : Trim(i)
  \/ \E i \in Incs : \/ TrimNote(i) \/ TrimReadTopology(i) \/ TrimReadManifests(i)
                      \/ TrimDelete(i) \/ TrimEnd(i)
  \/ \E j \in Takers, i \in Incs : TakeOver(j, i)
  \/ \E j \in Takers, i \in Incs : CollectorFence(j, i)
  \/ \E i \in Incs : Stop(i) \/ LandStopFence(i)
  \/ \E j \in Takers : FenceAgain(j)
  \/ \E j \in Takers : FencePut(j)
  \/ \E j \in Takers : Fence(j)
  \/ \E j \in Takers : TakeRead(j)
  \/ \E j \in Takers : Seal(j)
  \/ \E j \in Takers : Adopt(j)
  \/ Publish
  \/ \E j \in Incs, x \in Shards : Replay(j, x)
  \/ \E i \in Incs, x \in Shards, j \in Incs : HandAsk(i, x, j)
  \/ \E i \in Incs : \/ Accept(i) \/ HandSeal(i) \/ HandStop(i) \/ HandOff(i)
                      \/ HandAbort(i) \/ HandResume(i)
  \/ \E i \in Incs, x \in Shards : Reopen(i, x)
  \/ \E i \in Incs : CollectJudge(i)
  \/ CollectReadTopology
  \/ CollectReadManifests
  \/ \E s \in Seqs : Collect(s)
  \/ CollectEnd

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------
\* D: every acknowledged record is reachable from the topology
D == \A i \in Incs : \A s \in Acked(i) :
       LET m == man[topo.sh[RecAt(i, s).sh].key] IN
         \/ <<i, s>> \in m.sst
         \/ /\ obj[i][s] = "data"
            /\ \E e \in m.logs : e.inc = i /\ InRange(e, s)

\* X: every named log range exists: a closed one wholly, an open one up to
\* the first batch that never landed
X == \A x \in Shards : \A e \in man[topo.sh[x].key].logs :
       \A s \in e.from..((IF e.to = Open THEN CPos(e.inc) ELSE e.to) - 1) :
          obj[e.inc][s] = "data"

\* U: no two acknowledged records have the same shard and offset
U == \A i \in Incs, j \in Incs : \A s \in Acked(i), t \in Acked(j) :
       RecAt(i, s) = RecAt(j, t) => (i = j /\ s = t)

\* S (only without takeovers): one incarnation at most serves a shard; it is what
\* keeps a giver, whose lease still holds, from answering reads
S == \A x \in Shards : Cardinality({i \in Incs : own[i][x] # 0}) <= 1

\* F: a fence that counted, at a taker or a collector: nothing at or above it is
\* acknowledged
F == /\ gc.pc = "judged" => CPos(gc.inc) <= gc.f
     /\ \A j \in Incs : tk[j].pc = "fenced" =>
        (tk[j].f \notin landed[tk[j].inc] /\ CPos(tk[j].inc) <= tk[j].f)
----------------------------------------------------------------------------
\* Reached, so each of these must be violated: the model is not vacuous.
Serves(i, x) == topo.sh[x].owner = i /\ own[i][x] = topo.sh[x].key
NeverTakenOver == ~(\E j \in Incs, x \in Shards :
                      Serves(j, x) /\ j # InitOwner(x) /\ cnt.take > 0 /\ CPos(j) > 0)
NeverHandedOff == ~(\E j \in Incs, x \in Shards :
                      Serves(j, x) /\ j # InitOwner(x) /\ cnt.hand > 0 /\ CPos(j) > 0)
NeverTrimmed == ~(gc.pc = "idle" /\ \E i \in Incs, s \in Seqs :
                                       s \in landed[i] /\ obj[i][s] = "none")
NeverCollected == ~(gc.pc = "del" /\ \E s \in Seqs :
                                       s \in landed[gc.inc] /\ obj[gc.inc][s] = "none")
NeverTwoFences == ~(\E i \in Incs : Cardinality({s \in Seqs : obj[i][s] = "fence"}) > 1)
=============================================================================
