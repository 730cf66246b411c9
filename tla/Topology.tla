------------------------------ MODULE Topology ------------------------------
(******************************************************************************)
(* Manifests and topology over a one-bit hash space: flush, compaction with   *)
(* tombstones, takeover, handoff, split, merge, reopen, trim, collection of   *)
(* tables and logs.  Rules are named as in docs/OWNERSHIP.md, actions as the  *)
(* steps in core/base/step.hpp (tla/README.md lists them).                    *)
(*                                                                            *)
(* What is simplified                                                         *)
(*  - Prefixes "r" (root), "0", "1"; points 0 and 1; one stream per point.    *)
(*  - A log is a sequence that grows by one acknowledged record at a time;    *)
(*    a fence is one atomic action.  OwnershipLog.tla justifies both.         *)
(*  - No incarnation stops by itself; its view own[i] may be old.             *)
(*  - CASes of manifests and of the topology are requests that land later     *)
(*    or never.  A seal is one atomic CAS.                                    *)
(*  - An offset is 10 * generation + change number; a stream that comes       *)
(*    back after a delete draws a new generation.                             *)
(*  - R4: the ask, its answer and the seal are one action, Accept.            *)
(*                                                                            *)
(* Mut, a set of strings, is {} for the protocol as it is.  "d_..." are       *)
(* readings of early drafts that looked right, other names are mutants: one   *)
(* rule broken.  "v_..." must hold: v_takeBoth lets a takeover take both      *)
(* shards by one CAS.                                                         *)
(******************************************************************************)
EXTENDS Naturals, Integers, FiniteSets, Sequences, TLC

CONSTANTS Incs, MaxSeq, MaxRec, MaxTake, MaxHand, MaxSplit, MaxMerge, MaxReopen,
          MaxFlush, MaxComp, MaxGC,
          InitSplit,   \* TRUE: start with shards "0" and "1", FALSE: with "r"
          OwnR, Own0, Own1,     \* first owners
          WPoints,     \* points that are written, {0} or {0,1}
          Mut

VARIABLES log,     \* log[i]: records [pt, del, off] of incarnation i
          fenced,  \* fenced[i]: position of the fence, or -1
          gone,    \* records <<i, s>> whose log object was deleted
          topo,    \* [ver, sh: prefix -> [ep, owner, key, logs: incarnations]]
          man,     \* manifests [ver, sealed, ssts, logs, hw: generation]
          sst,     \* ssts [recs, by, ok]
          msgs,    \* CAS requests that can still land
          own,     \* own[i]: set of [p, key] that i serves
          hi,      \* hi[i][pt]: highest offset that i recovered or gave;
                   \* 10 * generation when the stream does not exist
          last,    \* last[pt]: newest acknowledged record <<i, s>>, or << >>
          gc, cnt,
          hs,      \* hs[i]: handoff at its giver i (R4)
          prom     \* promised and pinned positions [by, q, v] (R4)

vars == <<log, fenced, gone, topo, man, sst, msgs, own, hi, last, gc, cnt, hs, prom>>
hvars == <<hs, prom>>

Open == 99
Points == {0, 1}
On(m) == m \in Mut
Max0(a, b) == IF a > b THEN a ELSE b
MinOf(S) == CHOOSE x \in S : \A y \in S : x <= y
MaxOf(S) == CHOOSE x \in S : \A y \in S : x >= y
MaxOr0(S) == IF S = {} THEN 0 ELSE MaxOf(S)

Covers(p, pt) == p = "r" \/ (p = "0" /\ pt = 0) \/ (p = "1" /\ pt = 1)
Meets(p, q) == p = "r" \/ q = "r" \/ p = q
Narrow(c, p) == IF c = "r" THEN p ELSE c         \* only used when Meets(c, p)
Rec(r) == log[r[1]][r[2] + 1]

HIdle == [pc |-> "idle", p |-> "r", key |-> 0, v |-> 0, j |-> 0, q |-> 0]
GIdle == [pc |-> "idle", cand |-> {}, fen |-> {}, floors |-> {}, keys |-> {},
          owners |-> {}, nssts |-> {}, nlogs |-> {}]
Dead == [ver |-> 0, sealed |-> TRUE, ssts |-> {}, logs |-> {}, hw |-> 0]
OpenEntry(p, i, from) == [clip |-> p, inc |-> i, from |-> from, to |-> Open]
NewMan(ssts, logs, hw) == [ver |-> 0, sealed |-> FALSE, ssts |-> ssts, logs |-> logs, hw |-> hw]
Fresh(p, i) == NewMan({}, {OpenEntry(p, i, 0)}, 0)

Init ==
  /\ log = [i \in Incs |-> << >>]
  /\ fenced = [i \in Incs |-> -1]
  /\ gone = {}
  /\ topo = [ver |-> 0, sh |->
       IF InitSplit THEN [p \in {"0", "1"} |-> [ep |-> 0, owner |-> IF p = "0" THEN Own0 ELSE Own1,
                                                key |-> IF p = "0" THEN 1 ELSE 2,
                                                logs |-> {IF p = "0" THEN Own0 ELSE Own1}]]
                    ELSE [p \in {"r"} |-> [ep |-> 0, owner |-> OwnR, key |-> 1, logs |-> {OwnR}]]]
  /\ man = IF InitSplit THEN <<Fresh("0", Own0), Fresh("1", Own1)>> ELSE <<Fresh("r", OwnR)>>
  /\ sst = << >>
  /\ msgs = {}
  /\ own = [i \in Incs |-> {[p |-> p, key |-> topo.sh[p].key] :
                              p \in {q \in DOMAIN topo.sh : topo.sh[q].owner = i}}]
  /\ hi = [i \in Incs |-> [x \in Points |-> 0]]
  /\ last = [x \in Points |-> << >>]
  /\ gc = GIdle
  /\ cnt = [take |-> 0, hand |-> 0, split |-> 0, merge |-> 0, reopen |-> 0,
            flush |-> 0, comp |-> 0, gcs |-> 0]
  /\ hs = [i \in Incs |-> HIdle]
  /\ prom = {}

----------------------------------------------------------------------------
\* Derived values

EndOf(e) == IF e.to = Open THEN Len(log[e.inc]) ELSE e.to
\* records of point pt in the log entries of m, filtered by the clips
LogRecs(m, pt) == {r \in {<<i, s>> : i \in Incs, s \in 0..(MaxSeq - 1)} :
                     /\ r[2] < Len(log[r[1]])
                     /\ Rec(r).pt = pt
                     /\ \E e \in m.logs : /\ e.inc = r[1] /\ Covers(e.clip, pt)
                                          /\ e.from <= r[2] /\ r[2] < EndOf(e)}
SstRecs(m, pt) == {r \in UNION {sst[t.id].recs : t \in {u \in m.ssts : Covers(u.clip, pt)}} :
                     Rec(r).pt = pt}
Offs(R) == {Rec(r).off : r \in R}
Gen(o) == o \div 10
\* The newest row is the one with the highest (generation, change number); mutant
\* changeOnly: with the highest change number
Rank(r) == IF On("changeOnly") THEN Rec(r).off % 10 ELSE Rec(r).off
\* What a new owner recovers: the newest row; without one, or when it is a
\* tombstone, the generation: the highest of the mark and the last seen
Recovered(m, pt) ==
  LET R == LogRecs(m, pt) \union SstRecs(m, pt)
      hw == IF On("d_noHighWater") THEN 0 ELSE m.hw IN
  IF R = {} THEN 10 * hw
  ELSE LET r == CHOOSE r1 \in R : \A q \in R : Rec(q).off <= Rec(r1).off IN
       IF Rec(r).del THEN 10 * Max0(hw, Gen(Rec(r).off)) ELSE Rec(r).off
ShardOf(pt) == CHOOSE p \in DOMAIN topo.sh : Covers(p, pt)
CloseAt(logs, i, f) ==
  {e \in {IF e1.inc = i /\ e1.to = Open THEN [e1 EXCEPT !.to = f] ELSE e1 : e1 \in logs} :
     e.from < e.to}
HasOpen(m, i) == \E e \in m.logs : e.inc = i /\ e.to = Open
NarrowMan(m, p) ==
  [ver |-> 0, sealed |-> FALSE, hw |-> m.hw,
   ssts |-> {[id |-> t.id, clip |-> Narrow(t.clip, p)] : t \in {u \in m.ssts : Meets(u.clip, p)}},
   logs |-> {[clip |-> Narrow(e.clip, p), inc |-> e.inc, from |-> e.from, to |-> e.to] :
               e \in {g \in m.logs : Meets(g.clip, p)}}]
Seal(m) == [m EXCEPT !.sealed = TRUE, !.ver = @ + 1]
NoManMsgs(ks) == {h \in msgs : ~(h.kind = "man" /\ h.key \in ks)}
\* The row of the topology: `logs` holds every incarnation that the manifest names
\* when it is published, and the owner.  Mutants: rowNoOwner, rowStale.
RowLogs(ls, owner, old) ==
  IF On("rowStale") THEN UNION {topo.sh[p].logs : p \in old}
  ELSE {e.inc : e \in ls} \union (IF On("rowNoOwner") THEN {} ELSE {owner})
\* The requests: a CAS of manifest k, whose content is m, and one of the topology
ManReq(i, k, m, ssts, logs, hw) ==
  [kind |-> "man", by |-> i, key |-> k, base |-> m.ver, ssts |-> ssts, logs |-> logs, hw |-> hw]
TopoReq(i, del, hand, add) ==
  [kind |-> "topo", by |-> i, base |-> topo.ver, del |-> del, hand |-> hand, add |-> add]
Row(p, owner, key, ep, logs) == [p |-> p, owner |-> owner, key |-> key, ep |-> ep, logs |-> logs]
Structural(i, p) == \E g \in msgs : g.kind = "topo" /\ g.by = i /\ p \in g.del

----------------------------------------------------------------------------
\* Step Acknowledge (R1): an owner has logged a put or a delete
Acknowledge(i, pt, del) ==
  /\ fenced[i] = -1
  /\ Len(log[i]) < MaxSeq
  /\ MaxRec > Cardinality({r \in Incs \X (0..(MaxSeq - 1)) : r[2] < Len(log[r[1]])})
  /\ \E o \in own[i] : Covers(o.p, pt)
  /\ del => (last[pt] # << >> /\ ~Rec(last[pt]).del /\ hi[i][pt] % 10 # 0)
  /\ LET n == hi[i][pt]
         off == IF n % 10 = 0 THEN 10 * (Gen(n) + 1) + 1 ELSE n + 1 IN
     /\ log' = [log EXCEPT ![i] = Append(@, [pt |-> pt, del |-> del, off |-> off])]
     /\ hi' = [hi EXCEPT ![i][pt] = IF del THEN 10 * Gen(off) ELSE off]
  /\ last' = [last EXCEPT ![pt] = <<i, Len(log[i])>>]
  /\ UNCHANGED <<fenced, gone, topo, man, sst, msgs, own, gc, cnt, hvars>>

\* Step Flush (R2): a table of all logged records, and the manifest CAS is sent
Flush(i) ==
  /\ cnt.flush < MaxFlush
  /\ \E o \in own[i] :
      LET m == man[o.key]
          recs == UNION {LogRecs(m, pt) : pt \in {x \in Points : Covers(o.p, x)}}
      IN /\ ~m.sealed
         /\ HasOpen(m, i)
         /\ recs # {}
         /\ (On("splitNoHold") \/ ~Structural(i, o.p))
         /\ sst' = Append(sst, [recs |-> recs, by |-> i, ok |-> TRUE])
         /\ msgs' = msgs \union
              {ManReq(i, o.key, m, m.ssts \union {[id |-> Len(sst) + 1, clip |-> o.p]},
                      {OpenEntry(o.p, i, Len(log[i]))}, m.hw)}
  /\ cnt' = [cnt EXCEPT !.flush = @ + 1]
  /\ UNCHANGED <<log, fenced, gone, topo, man, own, hi, last, gc, hvars>>

\* Step Compact (R2): of some tables of the shard.  Only the newest record of each
\* point stays.  A tombstone goes only if no table outside the compaction, under its
\* clip, and no log range holds an older row of its point (mutant compactPart: always;
\* compactNoLog: the log ranges are not looked at).  The mark rises to the
\* generation of every tombstone dropped.
Compact(i) ==
  /\ cnt.comp < MaxComp
  /\ \E o \in own[i] :
      LET m == man[o.key] IN
      \E some \in (SUBSET m.ssts) \ {{}} :
      LET pts == {x \in Points : Covers(o.p, x)}
          part == [m EXCEPT !.ssts = some]
          rest == [m EXCEPT !.ssts = @ \ some]
          all == UNION {SstRecs(part, pt) : pt \in pts}
          out == UNION {SstRecs(rest, pt) : pt \in pts} \union
                 (IF On("compactNoLog") THEN {} ELSE UNION {LogRecs(m, pt) : pt \in pts})
          top == {r \in all : \A q \in all : Rec(q).pt = Rec(r).pt => Rank(q) <= Rank(r)}
          keep == {r \in top : /\ Rec(r).del
                                  => /\ ~On("compactPart")
                                     /\ \E q \in out : /\ Rec(q).pt = Rec(r).pt
                                                       /\ Rec(q).off < Rec(r).off}
          lost == {Gen(Rec(r).off) : r \in {q \in all \ keep : Rec(q).del}}
      IN /\ ~m.sealed
         /\ HasOpen(m, i)
         /\ all # {}
         /\ (On("splitNoHold") \/ ~Structural(i, o.p))
         /\ sst' = Append(sst, [recs |-> keep, by |-> i, ok |-> TRUE])
         /\ msgs' = msgs \union
              {ManReq(i, o.key, m,
                      (m.ssts \ some) \union
                        (IF keep = {} THEN {} ELSE {[id |-> Len(sst) + 1, clip |-> o.p]}),
                      m.logs,
                      IF On("markNotRaised") THEN m.hw ELSE Max0(m.hw, MaxOr0(lost)))}
  /\ cnt' = [cnt EXCEPT !.comp = @ + 1]
  /\ UNCHANGED <<log, fenced, gone, topo, man, own, hi, last, gc, hvars>>

\* A manifest CAS lands
LandManifest ==
  \E g \in msgs :
    /\ g.kind = "man"
    /\ man[g.key].ver = g.base
    /\ ~man[g.key].sealed
    /\ man' = [man EXCEPT ![g.key] = [ver |-> g.base + 1, sealed |-> FALSE, ssts |-> g.ssts,
                                      logs |-> g.logs, hw |-> g.hw]]
    /\ msgs' = NoManMsgs({g.key})
    /\ UNCHANGED <<log, fenced, gone, topo, sst, own, hi, last, gc, cnt, hvars>>

\* Step Trim (R7): below the entries for the log in the manifests of the own view, in
\* every manifest of the topology, and in own unresolved requests.  Mutants trimOwnOnly:
\* only in those of the own view; trimByName: also in that of the prefix handed off.
Trim(i) ==
  LET keys == {o.key : o \in own[i]} \union
              {topo.sh[p].key : p \in {q \in DOMAIN topo.sh :
                                         /\ i \in topo.sh[q].logs   \* only rows that hold i
                                         /\ ~On("trimOwnOnly")
                                         /\ On("trimByName") => q = "r"}}
      pins == IF On("d_noPin") THEN {}
              ELSE UNION {IF g.kind = "man" THEN g.logs ELSE UNION {man[a.key].logs : a \in g.add} :
                            g \in {h \in msgs : h.by = i}}
      froms == {e.from : e \in {e1 \in (UNION {man[k].logs : k \in keys}) \union pins : e1.inc = i}}
               \union (IF On("noPromise") THEN {}
                       ELSE {r.q : r \in {r1 \in prom : r1.by = i /\ r1.v >= topo.ver}})
      b == IF froms = {} THEN Len(log[i]) ELSE MinOf(froms)
      del == {<<i, s>> : s \in 0..(b - 1)}
  IN /\ ~(del \subseteq gone)
     /\ gone' = gone \union del
     /\ UNCHANGED <<log, fenced, topo, man, sst, msgs, own, hi, last, gc, cnt, hvars>>

----------------------------------------------------------------------------
\* Step Fence (R3a, R8): somebody fences the log of an incarnation, also of one that
\* owns nothing
Fence(i) ==
  /\ fenced[i] = -1
  /\ cnt.take < MaxTake
  /\ (\E p \in DOMAIN topo.sh : topo.sh[p].owner = i) \/ Len(log[i]) > 0
  /\ fenced' = [fenced EXCEPT ![i] = Len(log[i])]
  /\ UNCHANGED <<log, gone, topo, man, sst, msgs, own, hi, last, gc, cnt, hvars>>

\* Steps Seal and Adopt (R3b, R3c), and the request of R3d
Adopt(j, p) ==
  /\ cnt.take < MaxTake
  /\ LET i == topo.sh[p].owner
         k == topo.sh[p].key
         m == man[k] IN
     /\ i # j
     /\ fenced[i] # -1
     /\ LET logs2 == CloseAt(m.logs, i, fenced[i])
                     \union {OpenEntry(p, j, Len(log[j]))} IN
        /\ man' = Append(IF On("noSeal") THEN man ELSE [man EXCEPT ![k] = Seal(m)],
                         NewMan(m.ssts, logs2, m.hw))
        /\ msgs' = (IF On("noSeal") THEN msgs ELSE NoManMsgs({k})) \union
                {TopoReq(j, {p}, FALSE, {Row(p, j, Len(man) + 1, topo.sh[p].ep + 1,
                                             RowLogs(logs2, j, {p}))})}
  /\ cnt' = [cnt EXCEPT !.take = @ + 1]
  /\ UNCHANGED <<log, fenced, gone, topo, sst, own, hi, last, gc, hvars>>

\* The same for both shards of i together: one topology CAS (v_takeBoth)
AdoptBoth(j) ==
  /\ On("v_takeBoth")
  /\ cnt.take < MaxTake
  /\ DOMAIN topo.sh = {"0", "1"}
  /\ topo.sh["0"].owner = topo.sh["1"].owner
  /\ LET i == topo.sh["0"].owner
         Old(p) == man[topo.sh[p].key]
         Logs(p) == CloseAt(Old(p).logs, i, fenced[i]) \union {OpenEntry(p, j, Len(log[j]))}
         New(p) == NewMan(Old(p).ssts, Logs(p), Old(p).hw)
         New1(p, key) == Row(p, j, key, topo.sh[p].ep + 1, RowLogs(Logs(p), j, {p}))
         k0 == topo.sh["0"].key
         k1 == topo.sh["1"].key IN
     /\ i # j
     /\ fenced[i] # -1
     /\ man' = [man EXCEPT ![k0] = Seal(man[k0]), ![k1] = Seal(man[k1])] \o <<New("0"), New("1")>>
     /\ msgs' = NoManMsgs({k0, k1}) \union
                {TopoReq(j, {"0", "1"}, FALSE, {New1("0", Len(man) + 1), New1("1", Len(man) + 2)})}
  /\ cnt' = [cnt EXCEPT !.take = @ + 1]
  /\ UNCHANGED <<log, fenced, gone, topo, sst, own, hi, last, gc, hvars>>

\* Step Publish (R3d, R4, R5, R6): a topology CAS lands; every other one on that
\* version is void
Publish ==
  \E g \in msgs :
    /\ g.kind = "topo"
    /\ (g.base = topo.ver \/ On("noTopoCheck"))
    /\ LET kept == DOMAIN topo.sh \ g.del
           added == {a.p : a \in g.add}
       IN topo' = [ver |-> topo.ver + 1,
                   sh |-> [p \in kept \union added |->
                             IF p \in added
                               THEN LET a == CHOOSE b \in g.add : b.p = p
                                    IN [ep |-> a.ep, owner |-> a.owner, key |-> a.key,
                                        logs |-> a.logs]
                               ELSE topo.sh[p]]]
    /\ IF On("noTopoCheck")
         THEN /\ msgs' = msgs \ {g}
              /\ UNCHANGED man
         ELSE /\ msgs' = {h \in msgs : h.kind # "topo"}
              /\ man' = [k \in DOMAIN man |->
                   IF \E h \in msgs : h.kind = "topo" /\ h # g /\ \E a \in h.add : a.key = k
                     THEN Dead ELSE man[k]]
    /\ prom' = {}     \* every pin's base version is past now
    /\ UNCHANGED <<log, fenced, gone, sst, own, hi, last, gc, cnt, hs>>

\* Step Replay (R3e, R4, R5, R6): i reads the topology; it serves what it owns and has
\* an own entry for
Replay(i) ==
  LET mine == {p \in DOMAIN topo.sh : /\ topo.sh[p].owner = i
                                        /\ HasOpen(man[topo.sh[p].key], i)
                                        \* R4: not while the CAS of an own handoff is unresolved
                                        /\ ~(\E g \in msgs : g.kind = "topo" /\ g.hand /\ g.by = i
                                                             /\ p \in g.del /\ ~On("resumeEarly"))}
      new == {[p |-> p, key |-> topo.sh[p].key] : p \in mine}
      had == {x \in Points : \E o \in own[i] : Covers(o.p, x)}
  IN /\ new # own[i]
     /\ own' = [own EXCEPT ![i] = new]
     /\ hi' = [hi EXCEPT ![i] = [x \in Points |->
          IF x \notin had /\ \E p \in mine : Covers(p, x)
            THEN Recovered(man[topo.sh[CHOOSE p \in mine : Covers(p, x)].key], x)
            ELSE hi[i][x]]]
     /\ UNCHANGED <<log, fenced, gone, topo, man, sst, msgs, last, gc, cnt, hvars>>

\* Steps Accept and Seal (R4): (1, 2) j promises q and pins it for version v; i seals m
\* and goes on appending
Accept(i, j) ==
  /\ cnt.hand < MaxHand
  /\ i # j
  /\ hs[i].pc = "idle"
  /\ \E o \in own[i] :
     /\ o.p \in DOMAIN topo.sh
     /\ topo.sh[o.p].key = o.key
     /\ ~man[o.key].sealed
     /\ hs' = [hs EXCEPT ![i] = [pc |-> "sealed", p |-> o.p, key |-> o.key, v |-> topo.ver,
                                 j |-> j, q |-> Len(log[j])]]
     /\ prom' = prom \union {[by |-> j, q |-> Len(log[j]), v |-> topo.ver]}
     /\ IF On("handNoSeal")
          THEN UNCHANGED <<man, msgs>>
          ELSE /\ man' = [man EXCEPT ![o.key] = Seal(man[o.key])]
               /\ msgs' = NoManMsgs({o.key})
  /\ cnt' = [cnt EXCEPT !.hand = @ + 1]
  /\ UNCHANGED <<log, fenced, gone, topo, sst, own, hi, last, gc>>

\* Step HandOff (R4): (3, 4) i stops serving, puts m' and CASes the topology on v
HandOff(i) ==
  LET p == hs[i].p
      k == hs[i].key IN
  /\ hs[i].pc = "sealed"
  /\ topo.ver = hs[i].v
  /\ [p |-> p, key |-> k] \in own[i]
  /\ LET logs2 == CloseAt(man[k].logs, i, Len(log[i]))
                  \union {OpenEntry(p, hs[i].j, hs[i].q)} IN
     /\ man' = Append(man, NewMan(man[k].ssts, logs2, man[k].hw))
     /\ msgs' = msgs \union
                {TopoReq(i, {p}, TRUE, {Row(p, hs[i].j, Len(man) + 1, topo.sh[p].ep + 1,
                                            RowLogs(logs2, hs[i].j, {p}))})}
  /\ own' = [own EXCEPT ![i] = @ \ {[p |-> p, key |-> k]}]
  /\ hs' = [hs EXCEPT ![i] = HIdle]
  /\ UNCHANGED <<log, fenced, gone, topo, sst, hi, last, gc, cnt, prom>>

\* (4) no answer, or the version has moved
HandAbort(i) ==
  /\ hs[i].pc = "sealed"
  /\ hs' = [hs EXCEPT ![i] = HIdle]
  /\ UNCHANGED <<log, fenced, gone, topo, man, sst, msgs, own, hi, last, gc, cnt, prom>>

\* Step Split (R5): the parent's manifest is sealed first
Split(i) ==
  /\ cnt.split < MaxSplit
  /\ \E o \in own[i] :
     LET m == man[o.key]
         seals == ~On("d_splitNoSeal") /\ ~On("splitNoHold")
         Child(p, key) == Row(p, i, key, topo.sh["r"].ep + 1,
                              RowLogs(NarrowMan(m, p).logs, i, {"r"}))
     IN
     /\ o.p = "r"
     /\ "r" \in DOMAIN topo.sh
     /\ topo.sh["r"].key = o.key
     /\ man' = [man EXCEPT ![o.key] = IF seals THEN Seal(m) ELSE m]
               \o <<NarrowMan(m, "0"), NarrowMan(m, "1")>>
     /\ msgs' = (IF seals THEN NoManMsgs({o.key}) ELSE msgs) \union
                {TopoReq(i, {"r"}, FALSE, {Child("0", Len(man) + 1), Child("1", Len(man) + 2)})}
  /\ cnt' = [cnt EXCEPT !.split = @ + 1]
  /\ UNCHANGED <<log, fenced, gone, topo, sst, own, hi, last, gc, hvars>>

\* Step Merge (R6): of both siblings; the clips stay as they are
Merge(i) ==
  /\ cnt.merge < MaxMerge
  /\ \E a \in own[i], b \in own[i] :
     LET ma == man[a.key]
         mb == man[b.key]
         ssts2 == ma.ssts \union mb.ssts
         logs2 == ma.logs \union mb.logs
     IN
     /\ a.p = "0" /\ b.p = "1"
     /\ DOMAIN topo.sh = {"0", "1"}
     /\ topo.sh["0"].key = a.key /\ topo.sh["1"].key = b.key
     /\ man' = Append(IF On("mergeNoSeal") THEN man
                      ELSE [man EXCEPT ![a.key] = Seal(ma), ![b.key] = Seal(mb)],
          NewMan(IF On("mergeNoClipSst") THEN {[c EXCEPT !.clip = "r"] : c \in ssts2} ELSE ssts2,
                 IF On("mergeNoClipLog") THEN {[e EXCEPT !.clip = "r"] : e \in logs2} ELSE logs2,
                 Max0(ma.hw, mb.hw)))
     /\ msgs' = (IF On("mergeNoSeal") THEN msgs ELSE NoManMsgs({a.key, b.key})) \union
                {TopoReq(i, {"0", "1"}, FALSE,
                         {Row("r", i, Len(man) + 1, 1 + Max0(topo.sh["0"].ep, topo.sh["1"].ep),
                              RowLogs(logs2, i, {"0", "1"}))})}
  /\ cnt' = [cnt EXCEPT !.merge = @ + 1]
  /\ UNCHANGED <<log, fenced, gone, topo, sst, own, hi, last, gc, hvars>>

\* Step Reopen (R5): an owner whose manifest is sealed (its split, merge or handoff came
\* to nothing) replaces it by an unsealed copy with one topology CAS
Reopen(i, p) ==
  /\ cnt.reopen < MaxReopen
  /\ topo.sh[p].owner = i
  /\ LET k == topo.sh[p].key
         m == man[k] IN
     /\ m.sealed
     /\ ~(\E g \in msgs : g.kind = "topo" /\ g.by = i /\ p \in g.del)
     /\ hs[i].pc = "idle" \/ hs[i].p # p
     /\ man' = Append(man, [m EXCEPT !.sealed = FALSE, !.ver = 0])
     /\ msgs' = msgs \union
                {TopoReq(i, {p}, FALSE, {Row(p, i, Len(man) + 1, topo.sh[p].ep + 1,
                                             RowLogs(m.logs, i, {p}))})}
  /\ cnt' = [cnt EXCEPT !.reopen = @ + 1]
  /\ UNCHANGED <<log, fenced, gone, topo, sst, own, hi, last, gc, hvars>>

----------------------------------------------------------------------------
\* Step Collect (R8).  In this order: candidates, fences and floors; topology;
\* manifests; delete.
Pending(w) == {t.id : t \in UNION {g.ssts : g \in {h \in msgs : h.kind = "man" /\ h.by = w}}}
NewPending(w) == {n \in Pending(w) : /\ sst[n].by = w
                                     /\ ~(\E k \in DOMAIN man : \E t \in man[k].ssts : t.id = n)}
Floor(w) == IF NewPending(w) = {} THEN Len(sst) + 1 ELSE MinOf(NewPending(w))

CollectList ==
  /\ gc.pc = "idle"
  /\ cnt.gcs < MaxGC
  /\ cnt' = [cnt EXCEPT !.gcs = @ + 1]
  /\ gc' = [GIdle EXCEPT !.pc = "listed",
                         !.cand = {n \in DOMAIN sst : sst[n].ok},
                         !.fen = {i \in Incs : fenced[i] # -1},
                         !.floors = {[w |-> i, f |-> Floor(i)] : i \in Incs}]
  /\ UNCHANGED <<log, fenced, gone, topo, man, sst, msgs, own, hi, last, hvars>>

CollectReadTopology ==
  /\ gc.pc = "listed"
  /\ gc' = [gc EXCEPT !.pc = "topo",
              !.keys = {[k |-> topo.sh[p].key, logs |-> topo.sh[p].logs] : p \in DOMAIN topo.sh},
              !.owners = {topo.sh[p].owner : p \in DOMAIN topo.sh}]
  /\ UNCHANGED <<log, fenced, gone, topo, man, sst, msgs, own, hi, last, cnt, hvars>>

CollectReadManifests ==
  /\ gc.pc = "topo"
  /\ gc' = [gc EXCEPT !.pc = "del", !.keys = {},
              !.nssts = {t.id : t \in UNION {man[a.k].ssts : a \in gc.keys}},
              \* the log half reads only manifests whose row holds the incarnation
              !.nlogs = {r \in {<<i, s>> : i \in Incs, s \in 0..(MaxSeq - 1)} :
                         \E e \in UNION {man[a.k].logs : a \in {b \in gc.keys : r[1] \in b.logs}} :
                            e.inc = r[1] /\ e.from <= r[2] /\ r[2] < e.to}]
  /\ UNCHANGED <<log, fenced, gone, topo, man, sst, msgs, own, hi, last, cnt, hvars>>

Collect ==
  /\ gc.pc = "del"
  /\ LET fen == IF On("d_gcListLate") THEN {i \in Incs : fenced[i] # -1} ELSE gc.fen
         cand == IF On("d_gcListLate") THEN {n \in DOMAIN sst : sst[n].ok} ELSE gc.cand
         dead == {i \in fen : i \notin gc.owners}
         dels == {n \in cand : /\ n \notin gc.nssts
                               /\ \/ sst[n].by \in dead
                                  \/ On("gcNoFloor")
                                  \/ \E q \in gc.floors : q.w = sst[n].by /\ n < q.f}
         lincs == IF On("d_gcOwner") THEN fen ELSE dead
         dlogs == {r \in {<<i, s>> : i \in lincs, s \in 0..(MaxSeq - 1)} :
                     r[2] < Len(log[r[1]]) /\ r \notin gc.nlogs}
     IN /\ sst' = [n \in DOMAIN sst |-> IF n \in dels THEN [sst[n] EXCEPT !.ok = FALSE] ELSE sst[n]]
        /\ gone' = gone \union dlogs
  /\ gc' = GIdle
  /\ UNCHANGED <<log, fenced, topo, man, msgs, own, hi, last, cnt, hvars>>

----------------------------------------------------------------------------
Next ==
  \/ \E i \in Incs, pt \in WPoints, d \in BOOLEAN : Acknowledge(i, pt, d)
  \/ \E i \in Incs : Flush(i)
  \/ \E i \in Incs : Compact(i)
  \/ LandManifest
  \/ \E i \in Incs : Trim(i)
  \/ \E i \in Incs : Fence(i)
  \/ \E j \in Incs, p \in DOMAIN topo.sh : Adopt(j, p)
  \/ \E j \in Incs : AdoptBoth(j)
  \/ Publish
  \/ \E i \in Incs : Replay(i)
  \/ \E i \in Incs, j \in Incs : Accept(i, j)
  \/ \E i \in Incs : HandOff(i) \/ HandAbort(i)
  \/ \E i \in Incs : Split(i)
  \/ \E i \in Incs : Merge(i)
  \/ \E i \in Incs, p \in DOMAIN topo.sh : Reopen(i, p)
  \/ CollectList
  \/ CollectReadTopology
  \/ CollectReadManifests
  \/ Collect

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------
\* P: the topology partitions the space
P == \A x \in Points : Cardinality({p \in DOMAIN topo.sh : Covers(p, x)}) = 1

\* What a reader finds at point x through the topology
Reach(x) == LET m == man[topo.sh[ShardOf(x)].key] IN
              SstRecs([m EXCEPT !.ssts = {t \in m.ssts : sst[t.id].ok}], x)
              \union {r \in LogRecs(m, x) : r \notin gone}

\* D: the newest acknowledged record of a point is reachable (unless it is a delete,
\* whose tombstone compaction may drop)
D == P => \A x \in Points :
       last[x] # << >> => (Rec(last[x]).del \/ last[x] \in Reach(x))

\* M: no older record of the point is visible: the newest reachable one is either the
\* newest acknowledged one, or a tombstone when the newest one is a delete
M == P => \A x \in Points :
       \A r \in Reach(x) :
          (\A q \in Reach(x) : Rank(q) <= Rank(r)) =>
             (r = last[x] \/ (Rec(r).del /\ Rec(last[x]).del))

\* X: everything named exists
X == \A p \in DOMAIN topo.sh :
       LET m == man[topo.sh[p].key] IN
       /\ \A t \in m.ssts : sst[t.id].ok
       /\ \A e \in m.logs : \A s \in e.from..(EndOf(e) - 1) : <<e.inc, s>> \notin gone

\* N: a row of the topology holds every incarnation that its manifest names
N == \A p \in DOMAIN topo.sh : \A e \in man[topo.sh[p].key].logs : e.inc \in topo.sh[p].logs

\* U: offsets are unique per point
Logged == {r \in Incs \X (0..(MaxSeq - 1)) : r[2] < Len(log[r[1]])}
U == \A r \in Logged, q \in Logged :
       (Rec(r).pt = Rec(q).pt /\ Rec(r).off = Rec(q).off) => r = q
----------------------------------------------------------------------------
\* Reached, so each of these must be violated: the model is not vacuous.
NeverMerged == ~(cnt.split > 0 /\ cnt.merge > 0 /\ DOMAIN topo.sh = {"r"} /\ topo.sh["r"].ep > 1
                 /\ \E e \in man[topo.sh["r"].key].logs : e.clip # "r")
NeverApart == ~(DOMAIN topo.sh = {"0", "1"} /\ topo.sh["0"].owner # topo.sh["1"].owner
                /\ cnt.split > 0)
NeverMarked == ~(\E p \in DOMAIN topo.sh : man[topo.sh[p].key].hw > 0)
NeverCollected == ~((\E n \in DOMAIN sst : ~sst[n].ok) /\ \E r \in gone : fenced[r[1]] # -1)
=============================================================================
