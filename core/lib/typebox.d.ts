// The types of `typebox.js`, which is generated: those of the package, and what of it is used.
export type * from '../../node_modules/typebox/build/index.d.mts';
export { Type } from '../../node_modules/typebox/build/index.d.mts';
export { Compile } from '../../node_modules/typebox/build/compile/index.d.mts';
export { Settings } from '../../node_modules/typebox/build/system/index.d.mts';
export { Check, Errors } from '../../node_modules/typebox/build/value/index.d.mts';
