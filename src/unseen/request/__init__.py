"""What a call asks for, made once: data, model, plan and effort; and the options every command shares."""
