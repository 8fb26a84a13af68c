// What the generated types of filters (sdk/generated/filters.ts) are made of.

/** A value, a list of values of which one is enough, or tests that must all hold. */
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
        : // Nothing is before or after what is not there.
          NonNullable<Value>;
