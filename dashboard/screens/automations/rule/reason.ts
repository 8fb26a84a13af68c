/** Returns why a run failed, without the name of the error that ends a run without another attempt. */
export const reasonOf = (message: string): string => message.replace(/^Drop: /, '');
