(* What is proved, word for word. Each line fails to build if its theorem says anything weaker. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From AdaNet Require Import signs suprema norms families activations.
From AdaNet Require Import contraction lemma_1_exact lemma_1_corrected.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* contraction *)
Check (@contraction : forall (R : realType) (m : nat) (A : set ('I_m -> R)) (g : ('I_m -> R) -> R) (phi : R -> R),
  A !=set0 -> bounded_on A g -> bounded_at A id -> lipschitz 1 phi ->
  E (fun s => Sup A (fun a => g a + dot s (fun i => phi (a i)))) <= E (fun s => Sup A (fun a => g a + dot s a))).
Check (@contraction_convex : forall (R : realType) (m : nat) (A : set ('I_m -> R)) (g : ('I_m -> R) -> R) (phi F : R -> R),
  A !=set0 -> bounded_on A g -> bounded_at A id -> lipschitz 1 phi -> phi 0 = 0 -> convex F -> nondecreasing F ->
  E (fun s => F (Sup A (fun a => g a + dot s (fun i => phi (a i))))) <= E (fun s => F (Sup A (fun a => g a + dot s a)))).

(* lemma-1-exact *)
Check (@lemma_1_exact : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (forall s, locally_bounded (phi N s)) -> (1 < k)%N ->
  Rad x (H Psi k) = \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad_abs x (phi N s) (H Psi s)).

(* lemma-1-corrected *)
Check (@lemma_1_corrected : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X)
    (k : nat) (c : nat -> R), (1 < k)%N -> (forall s, splits (phi N s) (c s)) ->
  Rad x (H Psi k) <=
  \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * (c s * Rad x (H Psi s) + `|phi N s 0| * mu R m)).
Check (@lemma_1_relu : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> (forall s, phi N s = @relu R) ->
  Rad x (H Psi k) <= 3%:R / 2%:R * \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).
Check (@lemma_1_leaky : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> forall a : R, `|a| <= 1 -> (forall s, phi N s = leaky a) ->
  Rad x (H Psi k) <= (3%:R - a) / 2%:R * \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).
Check (@lemma_1_odd : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> forall L : R, (forall s, lipschitz L (phi N s)) -> (forall s, odd_fun (phi N s)) ->
  Rad x (H Psi k) <= L * \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).
Check (@lemma_1_slopes : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> forall a b : R, (forall s, slopes a b (phi N s)) ->
  Rad x (H Psi k) <= \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) *
    ((`|a + b| / 2%:R + (b - a)) * Rad x (H Psi s) + `|phi N s 0| * mu R m)).
Check (@lemma_1_lipschitz : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> forall L : R, (forall s, lipschitz L (phi N s)) ->
  Rad x (H Psi k) <= \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * (2%:R * L * Rad x (H Psi s) + `|phi N s 0| * mu R m)).
Check (@lemma_1_printed : forall (R : realType) (X : Type) (N : net R) (Psi : X -> 'I_(n N 0) -> R) (m : nat) (x : 'I_m -> X) (k : nat),
  (1 < k)%N -> (forall s, lipschitz 1 (phi N s)) -> (forall s, phi N s 0 = 0) ->
  Rad x (H Psi k) <= 2%:R * \sum_(1 <= s < k) Lam N k s * root_q (p N) (n N s) * Rad x (H Psi s)).
