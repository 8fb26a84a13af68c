/** Name of the reaction, of the timer of clocks and deleted policies, and of the actor of their events. */
export const slaTimerName = 'sla';
