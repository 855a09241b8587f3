# SPDX-License-Identifier: Apache-2.0
"""A program in JAX whose state goes through `tessera.files`: samples are cut over dp, the hidden
layer over tp. Sums over ranks are those of Tessera's launcher.

    python3 jax_files.py --rules > rules.json
    python3 -m tessera.files list -- python3 jax_files.py > tensors.json
    tesseractl job start jax_files.py --kind files --tensors tensors.json --rules rules.json \\
        --mesh dp=2
"""

import argparse
import json
import time

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--delay", type=float, default=0, help="seconds, to have time to watch")
parser.add_argument("--rules", action="store_true", help="print a rules file for Tessera")
arguments = parser.parse_args()

INPUTS, HIDDEN, OUTPUTS, BATCH = 16, 48, 8, 24
CUTS = {
    "in": {"dims": [[], ["tp"]]},
    "in_bias": {"dims": [["tp"]]},
    "out": {"dims": [["tp"], []]},
    "out_bias": "replicate",
}
MATCHES = [(prefix + name, cut) for prefix in ("", "momentum.") for name, cut in CUTS.items()]
RULES = {"rules": [{"match": name, "cut": cut} for name, cut in MATCHES]}


def main():
    import jax
    import jax.numpy as jnp
    import numpy as np

    from tessera import files

    run = files.begin()

    def initial():
        random = jax.random.split(jax.random.key(1))
        whole = {
            "in": jax.random.normal(random[0], (INPUTS, HIDDEN)) * INPUTS**-0.5,
            "in_bias": jnp.zeros(HIDDEN),
            "out": jax.random.normal(random[1], (HIDDEN, OUTPUTS)) * HIDDEN**-0.5,
            "out_bias": jnp.zeros(OUTPUTS),
        }
        whole |= {"momentum." + name: jnp.zeros_like(value) for name, value in whole.items()}
        return {name: run.part_of(name, np.asarray(value)) for name, value in whole.items()}

    def samples(step):
        """They depend on the step, not on the mesh."""
        x = jax.random.normal(jax.random.fold_in(jax.random.key(2), step), (BATCH, INPUTS))
        wanted = jnp.tanh(x[:, :OUTPUTS] * x[:, OUTPUTS:])
        mine = slice(run.coordinates["dp"], BATCH, run.mesh["dp"])
        return x[mine], wanted[mine]

    @jax.jit
    def part(weights, x):
        """What this rank's part of the hidden layer contributes to the output."""
        return jnp.tanh(x @ weights["in"] + weights["in_bias"]) @ weights["out"]

    @jax.jit
    def part_gradients(weights, x, d_out):
        return jax.vjp(lambda w: part(w, x), weights)[1](d_out)[0]

    @jax.jit
    def loss_of(bias, out, wanted):
        return jnp.square(out + bias - wanted).sum() / (BATCH * OUTPUTS)

    loss_and_gradients = jax.jit(jax.value_and_grad(loss_of, argnums=(0, 1)))

    @jax.jit
    def updated(state, gradients):
        out = {}
        for name, gradient in gradients.items():
            momentum = 0.9 * state["momentum." + name] + gradient
            out["momentum." + name] = momentum
            out[name] = state[name] - arguments.lr * momentum
        return out

    state = files.load()
    if state is None:
        state = initial()
        files.save(state)
    state = {name: jnp.asarray(value) for name, value in state.items()}
    for step in range(run.step + 1, arguments.steps + 1):
        x, wanted = samples(step)
        weights = {name: state[name] for name in ("in", "in_bias", "out")}
        out = files.all_reduce(part(weights, x), "tp")
        loss, (d_bias, d_out) = loss_and_gradients(state["out_bias"], out, wanted)
        gradients = part_gradients(weights, x, d_out) | {"out_bias": d_bias}
        gradients = {name: files.all_reduce(gradients[name], "dp") for name in sorted(gradients)}
        loss = files.all_reduce(jnp.reshape(loss, 1), "dp")[0]
        state = updated(state, gradients)
        time.sleep(arguments.delay)
        files.report(step, loss, last=step == arguments.steps)
        if files.should_save():
            files.save(state)


if arguments.rules:
    print(json.dumps(RULES, indent=2))
else:
    main()
