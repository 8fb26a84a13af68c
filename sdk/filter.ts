// Building blocks of the generated filter types (sdk/generated/filters.ts).

/** A value, a list of alternative values, or tests that must all pass. */
export type Test<Value, Tests extends string> =
  Value | readonly Value[] | { readonly [Name in Tests]?: Operand<Value, Name> | undefined };

type Operand<Value, Name> = Name extends 'in' | 'nin'
  ? readonly Value[]
  : Name extends 'null'
    ? boolean
    : Name extends 'contains' | 'startsWith'
      ? string
      : Name extends 'eq' | 'neq'
        ? Value
        : // Order comparisons with null are not possible.
          NonNullable<Value>;
