/**
 * Kernel ridge regression in slices: Cholesky factor, dual coefficients, and the answers each example would have got
 * from a model learned without it (leave-one-out in closed form: y - α / diag(K⁻¹)).
 */

/** A symmetric matrix, of which the lower half is stored row by row. */
export type LowerMatrix = Float64Array[];

export type Solution = { readonly coefficients: Float64Array[]; readonly leftOut: Float64Array[] };

/** Overwrites `kernel`. Yields the multiplications done since the last yield. */
export function* solveRidge(
  kernel: LowerMatrix,
  targets: readonly Float64Array[],
  ridge: number,
): Generator<number, Solution> {
  const n = kernel.length;
  const inverseDiagonal = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const row = kernel[i] ?? new Float64Array(0);
    row[i] = (row[i] ?? 0) + ridge;
    for (let j = 0; j <= i; j++) {
      const other = kernel[j] ?? row;
      let sum = row[j] ?? 0;
      for (let k = 0; k < j; k++) sum -= (row[k] ?? 0) * (other[k] ?? 0);
      row[j] = j === i ? Math.sqrt(Math.max(sum, 1e-9)) : sum / (other[j] ?? 1);
    }
    yield (i * i) / 2;
  }
  // Row i of the inverse factor, column by column: diag(K⁻¹) is the squared length of each column of L⁻¹.
  for (let column = 0; column < n; column++) {
    const inverse = new Float64Array(n);
    let squares = 0;
    for (let i = column; i < n; i++) {
      const row = kernel[i] ?? inverse;
      let sum = i === column ? 1 : 0;
      for (let k = column; k < i; k++) sum -= (row[k] ?? 0) * (inverse[k] ?? 0);
      const value = sum / (row[i] ?? 1);
      inverse[i] = value;
      squares += value * value;
    }
    inverseDiagonal[column] = squares;
    yield ((n - column) * (n - column)) / 2;
  }
  const coefficients = targets.map((target) => backSubstitute(kernel, forwardSubstitute(kernel, target)));
  yield targets.length * n * n;
  const leftOut = coefficients.map((alpha, t) =>
    alpha.map((value, i) => (targets[t]?.[i] ?? 0) - value / (inverseDiagonal[i] ?? 1)),
  );
  return { coefficients, leftOut };
}

function forwardSubstitute(factor: LowerMatrix, target: Float64Array): Float64Array {
  const out = Float64Array.from(target);
  for (let i = 0; i < out.length; i++) {
    const row = factor[i] ?? out;
    let sum = out[i] ?? 0;
    for (let k = 0; k < i; k++) sum -= (row[k] ?? 0) * (out[k] ?? 0);
    out[i] = sum / (row[i] ?? 1);
  }
  return out;
}

function backSubstitute(factor: LowerMatrix, target: Float64Array): Float64Array {
  const out = Float64Array.from(target);
  for (let i = out.length - 1; i >= 0; i--) {
    const row = factor[i] ?? out;
    const value = (out[i] ?? 0) / (row[i] ?? 1);
    out[i] = value;
    for (let k = 0; k < i; k++) out[k] = (out[k] ?? 0) - value * (row[k] ?? 0);
  }
  return out;
}
