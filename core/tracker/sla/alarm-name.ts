/** Names the reaction, the alarm of clocks and of deleted policies, and the actor of their events. */
export const slaAlarm = 'sla';
